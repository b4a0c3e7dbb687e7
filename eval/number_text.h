/* number_text.h - numbers as people write them. */
#ifndef EVAL_NUMBER_TEXT_H
#define EVAL_NUMBER_TEXT_H

enum { NUMBER_TEXT_BYTES = 32 };

/* The shortest of printf's %g forms that reads back as the same number; returns text. */
const char *number_text(double number, char text[NUMBER_TEXT_BYTES]);

#endif
