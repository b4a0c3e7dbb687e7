/* number_text.c - prints numbers the way people write them. */
#include "number_text.h"

#include <stdio.h>
#include <stdlib.h>

const char *number_text(double number, char text[NUMBER_TEXT_BYTES]) {
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, NUMBER_TEXT_BYTES, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    return text;
}
