# SPDX-License-Identifier: Apache-2.0
"""Types of arguments that the measuring tools share."""
import argparse


def names_of(allowed):
    def parse(text):
        names = text.split(",")
        for name in names:
            if name not in allowed:
                raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(allowed)}")
        return names
    return parse


def guesses_of(text):
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError("expected percentages, such as 12,30") from None
    if not all(1 <= value <= 99 for value in values):
        raise argparse.ArgumentTypeError("expected percentages from 1 to 99")
    return values


def count_of(text):
    if not text.isdigit() or not 0 <= int(text) <= 100:
        raise argparse.ArgumentTypeError("expected a number from 0 to 100")
    return int(text)
