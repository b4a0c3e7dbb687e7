# SPDX-License-Identifier: Apache-2.0
"""Genres of films, as attributes of a review that nobody asked to keep.

The lists are public and were written for this measurement, before it was made. A review belongs to
a genre if its original text has at least `LEAST` words of the list, repetitions counted. The lists
have no words of praise or blame, since these would measure the sentiment again.
"""
import numpy

LEAST = 2
LISTS = {
    "horror": "horror scary zombie zombies vampire vampires slasher gore gory haunted ghost ghosts "
              "werewolf undead demon demons supernatural gruesome nightmare",
    "comedy": "comedy comedies comedian comedians comedic humor humour parody sitcom joke "
              "jokes gag gags laughs",
    "war": "war wars soldier soldiers army military battle battles battlefield vietnam nazi nazis "
           "troops combat marines hitler regiment infantry sergeant",
    "romance": "romance romantic romances lover lovers marriage wedding bride kiss kisses married "
               "girlfriend boyfriend courtship",
    "crime": "crime crimes police detective detectives murder murders murderer gangster gangsters "
             "mafia mob cop cops robbery heist criminal criminals",
    "science fiction": "alien aliens spaceship robot robots futuristic galaxy planet planets mars "
                       "spacecraft starship martian android cyborg space sci fi trek",
    "musical": "musical musicals songs song singing sing sings dance dances dancing dancer dancers "
               "broadway singer singers choreography",
}


def labels(texts, words):
    """Whether each document belongs to each genre: documents x genres."""
    number = {word: at for at, word in enumerate(words)}
    made = []
    for line in LISTS.values():
        chosen = [number[word] for word in line.split() if word in number]
        is_of = numpy.zeros(len(words), bool)
        is_of[chosen] = True
        sums = numpy.concatenate(([0], numpy.cumsum(is_of[texts.ids])))
        made.append(sums[texts.starts[1:]] - sums[texts.starts[:-1]] >= LEAST)
    return numpy.stack(made, 1)
