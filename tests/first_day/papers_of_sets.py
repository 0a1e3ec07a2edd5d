r"""The fifteenth to seventeenth sets: forty passages each, in the style of forty papers, each written blind."""

from first_day.papers_fifteenth import FIFTEENTH
from first_day.papers_fifteenth_end import FIFTEENTH_END, FIFTEENTH_REFUSED
from first_day.papers_seventeenth import SEVENTEENTH
from first_day.papers_seventeenth_end import SEVENTEENTH_END, SEVENTEENTH_REFUSED
from first_day.papers_sixteenth import SIXTEENTH
from first_day.papers_sixteenth_end import SIXTEENTH_END, SIXTEENTH_REFUSED

FORTIES = [*FIFTEENTH, *FIFTEENTH_END, *SIXTEENTH, *SIXTEENTH_END, *SEVENTEENTH, *SEVENTEENTH_END]
FORTIES_REFUSED = [*FIFTEENTH_REFUSED, *SIXTEENTH_REFUSED, *SEVENTEENTH_REFUSED]
