r"""The sets from the fifteenth on: forty passages each, in the style of forty papers, each written blind."""

from first_day.papers_eighteenth import EIGHTEENTH
from first_day.papers_eighteenth_end import EIGHTEENTH_END, EIGHTEENTH_REFUSED
from first_day.papers_fifteenth import FIFTEENTH
from first_day.papers_fifteenth_end import FIFTEENTH_END, FIFTEENTH_REFUSED
from first_day.papers_seventeenth import SEVENTEENTH
from first_day.papers_seventeenth_end import SEVENTEENTH_END, SEVENTEENTH_REFUSED
from first_day.papers_sixteenth import SIXTEENTH
from first_day.papers_sixteenth_end import SIXTEENTH_END, SIXTEENTH_REFUSED
from first_day.papers_twentieth import TWENTIETH
from first_day.papers_twentieth_end import TWENTIETH_END, TWENTIETH_REFUSED

FORTIES = [
    *FIFTEENTH, *FIFTEENTH_END, *SIXTEENTH, *SIXTEENTH_END, *SEVENTEENTH, *SEVENTEENTH_END, *EIGHTEENTH,
    *EIGHTEENTH_END, *TWENTIETH, *TWENTIETH_END,
]  # fmt: skip
FORTIES_REFUSED = [
    *FIFTEENTH_REFUSED, *SIXTEENTH_REFUSED, *SEVENTEENTH_REFUSED, *EIGHTEENTH_REFUSED, *TWENTIETH_REFUSED,
]  # fmt: skip
