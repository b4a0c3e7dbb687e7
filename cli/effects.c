/* effects.c - what a certified mechanism does, beside the paper's at the same epsilon. */
#include "effects.h"

#include <stdio.h>

static void print_row(const char *what, double certified, double paper) {
    printf("%-36s %10.4f   %13.4f\n", what, certified, paper);
}

void effects_print(const tem_certificate_info *c) {
    if (c->prior[0] == '\0')
        return;
    printf("\nunder the prior %-20s %10s   s = epsilon/2\n", c->prior,
           tem_weights_name(c->weights));
    print_row("stays itself (N_w, median)", c->effect.self, c->plain.self);
    print_row("spread over words (S_w, median)", c->effect.support, c->plain.support);
    print_row("expected distance", c->effect.distance, c->plain.distance);
    print_row("best guess right (Bayes)", c->effect.bayes, c->plain.bayes);
    puts("\n"
         "The same epsilon is proved of both columns. The left one has less noise: an attacker\n"
         "guesses more. Choose epsilon for what it does, not by what it was with another column.");
}

json_t *effects_as_json(const tem_certificate_info *c) {
    const tem_effect *e = &c->effect, *p = &c->plain;
    if (c->prior[0] == '\0')
        return json_null();
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:{s:f, s:f, s:f, s:f}}", "prior", c->prior, "self",
                     e->self, "support", e->support, "distance", e->distance, "bayes", e->bayes,
                     "paper", "self", p->self, "support", p->support, "distance", p->distance,
                     "bayes", p->bayes);
}
