/* number_text.h - prints numbers the way people write them. */
#ifndef EVAL_NUMBER_TEXT_H
#define EVAL_NUMBER_TEXT_H

enum { NUMBER_TEXT_BYTES = 32 };

/* Prints the shortest of printf's %g forms that reads back as the same number; returns text. */
const char *number_text(double number, char text[NUMBER_TEXT_BYTES]);

#endif
