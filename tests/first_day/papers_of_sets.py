r"""The sets from the fifteenth on: forty passages each, in the style of forty papers, each written blind."""

from first_day.papers_eighteenth import EIGHTEENTH
from first_day.papers_eighteenth_end import EIGHTEENTH_END, EIGHTEENTH_REFUSED
from first_day.papers_fifteenth import FIFTEENTH
from first_day.papers_fifteenth_end import FIFTEENTH_END, FIFTEENTH_REFUSED
from first_day.papers_nineteenth import NINETEENTH
from first_day.papers_nineteenth_end import NINETEENTH_END, NINETEENTH_REFUSED
from first_day.papers_seventeenth import SEVENTEENTH
from first_day.papers_seventeenth_end import SEVENTEENTH_END, SEVENTEENTH_REFUSED
from first_day.papers_sixteenth import SIXTEENTH
from first_day.papers_sixteenth_end import SIXTEENTH_END, SIXTEENTH_REFUSED
from first_day.papers_twentieth import TWENTIETH
from first_day.papers_twentieth_end import TWENTIETH_END, TWENTIETH_REFUSED
from first_day.papers_twenty_fifth import TWENTY_FIFTH
from first_day.papers_twenty_fifth_end import TWENTY_FIFTH_END, TWENTY_FIFTH_REFUSED, TWENTY_FIFTH_VALUES
from first_day.papers_twenty_first import TWENTY_FIRST
from first_day.papers_twenty_first_end import TWENTY_FIRST_END, TWENTY_FIRST_REFUSED
from first_day.papers_twenty_fourth import TWENTY_FOURTH
from first_day.papers_twenty_fourth_end import TWENTY_FOURTH_END, TWENTY_FOURTH_REFUSED
from first_day.papers_twenty_second import TWENTY_SECOND
from first_day.papers_twenty_second_end import TWENTY_SECOND_END, TWENTY_SECOND_REFUSED
from first_day.papers_twenty_third import TWENTY_THIRD
from first_day.papers_twenty_third_end import TWENTY_THIRD_END, TWENTY_THIRD_REFUSED

FORTIES = [
    *FIFTEENTH, *FIFTEENTH_END, *SIXTEENTH, *SIXTEENTH_END, *SEVENTEENTH, *SEVENTEENTH_END, *EIGHTEENTH,
    *EIGHTEENTH_END, *NINETEENTH, *NINETEENTH_END, *TWENTIETH, *TWENTIETH_END, *TWENTY_FIRST, *TWENTY_FIRST_END,
    *TWENTY_SECOND, *TWENTY_SECOND_END, *TWENTY_THIRD, *TWENTY_THIRD_END,
    *TWENTY_FOURTH, *TWENTY_FOURTH_END, *TWENTY_FIFTH, *TWENTY_FIFTH_END,
]  # fmt: skip
FORTIES_REFUSED = [
    *FIFTEENTH_REFUSED, *SIXTEENTH_REFUSED, *SEVENTEENTH_REFUSED, *EIGHTEENTH_REFUSED, *NINETEENTH_REFUSED,
    *TWENTIETH_REFUSED, *TWENTY_FIRST_REFUSED, *TWENTY_SECOND_REFUSED, *TWENTY_THIRD_REFUSED, *TWENTY_FOURTH_REFUSED,
    *TWENTY_FIFTH_REFUSED,
]  # fmt: skip
VALUES = TWENTY_FIFTH_VALUES
"""Passages with a value, whose gradient is not defined term by term."""
