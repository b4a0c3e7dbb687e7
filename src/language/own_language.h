/* own_language.h - language models of the functions of a user (tem_language.h, "a language model of
 * your own"): an array of weights per position, or weights and draws one by one. */
#ifndef LANGUAGE_OWN_LANGUAGE_H
#define LANGUAGE_OWN_LANGUAGE_H

#include "model/model.h"
#include "tem_language.h"

/* As tem_language_wrap. The caller has checked the pointers and the text. */
tem_status own_language_make(const tem_model *model, const tem_language_functions *functions,
                             tem_language **out, tem_error *error);

#endif
