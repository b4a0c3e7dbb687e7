/* trust.h - which certificates this user's programs believe.
 *
 * The hash of a certificate finds damage. It does not tell who made it: whoever can write the
 * file can write a hash, and a made-up s breaks the guarantee. So --calibrated takes a
 * certificate only if
 *  - it lies beside the default model, found without -m and $TEM_MODEL: it came with the program;
 *  - or it was made (tem calibrate) or recomputed (tem verify) here: its hash is a line of
 *    $XDG_STATE_HOME/tem/certificates, else ~/.local/state/tem/certificates, a file of the
 *    user's own that nobody else can write. */
#ifndef CLI_TRUST_H
#define CLI_TRUST_H

#include "tem.h"

#include <stdbool.h>

/* Whether the certificate, of the model that default_model_open opened last, is believed. */
bool trust_has(const tem_certificate_info *certificate);

/* The same; says why not, and what to do. */
bool trust_require(const tem_certificate_info *certificate);

/* Whether there is a list to note certificates in, or can be; says why not. */
bool trust_ready(void);

/* Believes it from now on. False, after saying why, if that cannot be written down. */
bool trust_add(const tem_certificate_info *certificate);

#endif
