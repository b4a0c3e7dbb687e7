/* test_model_trust.c - calls that draw or prove accept only trusted models.
 *
 * The forged model here is one that an attacker would send: words and vectors are honest, so that a
 * genuine certificate is for it; every list is the word itself at distance 0, every bound is as
 * large as can be, and all hashes fit. Drawn from, it gives nearly every word back. */
#include "core/fault.h"
#include "model/model_layout.h"
#include "trust/trusted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "small_model.h"
#include "tem_account.h"

enum { COUNT = 40, FILE_MAX = 1 << 20, RING = 300 };

static char folder[64], path[96], certificates[112], state_home[96];
static tem_model *built;
static tem_certificate *genuine; /* of the built model */

/* ---- files ---- */

typedef struct bytes {
    unsigned char data[FILE_MAX];
    size_t size;
} bytes;

static bytes file;

static void read_model(void) {
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    file.size = fread(file.data, 1, FILE_MAX, in);
    assert_true(file.size < FILE_MAX);
    fclose(in);
}

static void write_model(void) {
    unlink(path);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(file.data, 1, file.size, out), file.size);
    fclose(out);
}

static model_section *table(void) {
    return (model_section *)(void *)(file.data + sizeof(model_header));
}

static model_section *section(uint32_t kind) {
    model_section *found = table();
    while (found->kind != kind)
        found++;
    return found;
}

/* Corrects the hashes, as anyone who can write the file can. */
static void reseal(void) {
    model_header *header = (model_header *)(void *)file.data;
    model_section *sections = table();
    for (uint32_t i = 0; i < header->sections; i++)
        core_hash256(file.data + sections[i].offset, sections[i].bytes, sections[i].hash);
    model_front_hash(header, sections, (unsigned char *)&sections[header->sections]);
}

/* ---- set up ---- */

static double ring(void *context, uint32_t a, uint32_t b) {
    const uint32_t apart = a > b ? a - b : b - a;
    (void)context;
    return apart < RING - apart ? apart : RING - apart;
}

static tem_model *build_ring(uint32_t count) {
    static char names[2000][8];
    const char *words[2000];
    tem_model *made = NULL;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "w%u", i);
        words[i] = names[i];
    }
    assert_int_equal(tem_model_build_function(words, count, ring, NULL, 4, NULL, &made, NULL),
                     TEM_OK);
    return made;
}

static int make_folder(void **state) {
    (void)state;
    float values[2 * COUNT];
    const char *base = getenv("TMPDIR");
    tem_accountant *accountant = NULL;
    const tem_calibration wanted = {.epsilon = 0.5};
    snprintf(folder, sizeof folder, "%.40s/tem-model-trust-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/m.tem", folder);
    snprintf(certificates, sizeof certificates, "%s.cert", path);
    snprintf(state_home, sizeof state_home, "%s/state", folder);
    for (int i = 0; i < COUNT; i++) {
        values[2 * i] = (float)(4 * i);
        values[2 * i + 1] = (float)(i * i % 7);
    }
    built = small_model(NULL, values, COUNT, 2, TEM_EUCLIDEAN, 5);
    assert_int_equal(tem_accountant_create(built, NULL, NULL, &accountant, NULL), TEM_OK);
    assert_int_equal(tem_accountant_calibrate(accountant, &wanted, NULL, &genuine, NULL, NULL),
                     TEM_OK);
    tem_accountant_free(accountant);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    char command[96];
    tem_certificate_free(genuine);
    tem_model_free(built);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

/* An honest file, its certificate beside it, and an empty list. */
static int set_up(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", state_home);
    unlink(certificates);
    return system(command) != 0 || setenv("XDG_STATE_HOME", state_home, 1) != 0 ||
           tem_model_save(built, path, TEM_OVERWRITE, NULL, NULL) != TEM_OK ||
           tem_certificate_save(genuine, certificates, NULL, NULL) != TEM_OK;
}

static tem_model *open_model(void) {
    tem_model *model = NULL;
    assert_int_equal(tem_model_open(path, &model, NULL), TEM_OK);
    return model;
}

static const char *hash_of(const tem_model *model) {
    static char hash[65];
    tem_error error;
    if (tem_model_hash(model, NULL, hash, &error) != TEM_OK)
        fail_msg("%s", error.message);
    return hash;
}

static const char *certificate_hash_of(const tem_certificate *certificate) {
    static tem_certificate_info info;
    tem_certificate_get_info(certificate, &info);
    return info.hash;
}

static bool is_listed(const char *hash) {
    int has = -1;
    assert_int_equal(tem_trust_has(hash, &has, NULL), TEM_OK);
    return has;
}

static void add(const char *hash) {
    assert_int_equal(tem_trust_add(hash, NULL, NULL), TEM_OK);
}

/* Reduces every list to the word itself, at distance 0, and raises every bound. */
static void forge_lists(void) {
    model_header *header = (model_header *)(void *)file.data;
    model_section made[SECTION_KINDS], *old = table();
    unsigned char *from = malloc(file.size);
    assert_non_null(from);
    memcpy(from, file.data, file.size);
    header->neighbours = 1;
    const uint64_t word_bytes = section(SECTION_WORD_BYTES)->bytes;
    assert_int_equal(model_layout(header, word_bytes, COUNT, made, &header->file_bytes),
                     header->sections);
    for (uint32_t i = 0; i < header->sections; i++) {
        unsigned char *to = file.data + made[i].offset;
        const uint64_t same = old[i].bytes < made[i].bytes ? old[i].bytes : made[i].bytes;
        memset(to, 0, file.size - made[i].offset);
        memcpy(to, from + old[i].offset, same);
        old[i] = made[i];
    }
    free(from);
    file.size = header->file_bytes;
    for (uint32_t id = 0; id <= COUNT; id++)
        memcpy(file.data + section(SECTION_LIST_STARTS)->offset + 8 * id, &(uint64_t){id}, 8);
    for (uint32_t id = 0; id < COUNT; id++)
        memcpy(file.data + section(SECTION_LISTS)->offset + 8 * id, &(tem_neighbour){id, 0}, 8);
    memset(file.data + section(SECTION_BOUNDS)->offset, 0xfe, section(SECTION_BOUNDS)->bytes);
}

static tem_model *open_forged(void) {
    read_model();
    forge_lists();
    reseal();
    write_model();
    return open_model();
}

/* ---- the gate ---- */

static const tem_mechanism_options half = {.epsilon = 0.5};

/* Calls that draw or prove refuse the model, name it, and return nothing. */
static void assert_gated(const tem_model *model) {
    static char marker;
    tem_mechanism *mechanism = (tem_mechanism *)(void *)&marker;
    tem_accountant *accountant = (tem_accountant *)(void *)&marker;
    tem_error error[3];
    const tem_mechanism_options calibrated = {.epsilon = 0.5, .certificate = genuine};
    assert_int_equal(tem_model_is_trusted(model), 0);
    assert_int_equal(tem_mechanism_create(model, &half, &mechanism, &error[0]), TEM_ERR_UNTRUSTED);
    assert_int_equal(tem_mechanism_create(model, &calibrated, &mechanism, &error[1]),
                     TEM_ERR_UNTRUSTED);
    assert_int_equal(tem_accountant_create(model, NULL, NULL, &accountant, &error[2]),
                     TEM_ERR_UNTRUSTED);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(error[i].file, path);
        assert_non_null(strstr(error[i].message, "tem_model_trust"));
    }
    assert_ptr_equal(mechanism, &marker);
    assert_ptr_equal(accountant, &marker);
}

static void assert_open(const tem_model *model) {
    tem_mechanism *mechanism = NULL;
    tem_accountant *accountant = NULL;
    assert_int_equal(tem_model_is_trusted(model), 1);
    assert_int_equal(tem_mechanism_create(model, &half, &mechanism, NULL), TEM_OK);
    assert_int_equal(tem_accountant_create(model, NULL, NULL, &accountant, NULL), TEM_OK);
    tem_accountant_free(accountant);
    tem_mechanism_free(mechanism);
}

static void test_gate(void **state) {
    (void)state;
    tem_model *model = open_model();
    tem_neighbours near;
    size_t length = 0;
    assert_open(built);
    assert_gated(model);
    /* Reading a model costs no privacy. */
    assert_int_equal(tem_model_neighbours(model, 3, &near, NULL), TEM_OK);
    assert_int_equal(tem_model_distance(model, 0, 1), tem_model_distance(built, 0, 1));
    assert_non_null(tem_model_word(model, 0, &length));
    assert_int_equal(tem_model_check(model, NULL, NULL), TEM_OK);
    assert_gated(model); /* matching hashes prove nothing */
    tem_model_free(model);
}

static void test_trust_by_hash(void **state) {
    (void)state;
    static const char *const wrong[] = {"", "00", "A"};
    tem_model *model = open_model();
    tem_error error;
    char hash[65], other[65];
    snprintf(hash, sizeof hash, "%s", hash_of(built));
    snprintf(other, sizeof other, "%.63s%c", hash, hash[63] == '0' ? '1' : '0');
    assert_string_equal(hash, hash_of(model));
    assert_int_equal(tem_model_trust(NULL, NULL, NULL, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_model_hash(model, NULL, NULL, NULL), TEM_ERR_ARGUMENT);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(tem_model_trust(model, wrong[i], NULL, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_model_trust(model, other, NULL, &error), TEM_ERR_UNTRUSTED);
    assert_null(strstr(error.message, hash)); /* otherwise people would copy it from there */
    assert_gated(model);
    unsetenv("XDG_STATE_HOME"); /* it needs no list */
    setenv("HOME", "", 1);
    assert_int_equal(tem_model_trust(model, hash, NULL, NULL), TEM_OK);
    assert_open(model);
    /* A named hash is a demand, even for a trusted model. */
    assert_int_equal(tem_model_trust(model, other, NULL, NULL), TEM_ERR_UNTRUSTED);
    assert_int_equal(tem_model_trust(model, NULL, NULL, NULL), TEM_OK);
    assert_int_equal(tem_model_trust(built, NULL, NULL, NULL), TEM_OK);
    assert_int_equal(tem_model_trust(built, hash, NULL, NULL), TEM_ERR_ARGUMENT);
    tem_model_free(model);
}

static void test_trust_by_list(void **state) {
    (void)state;
    tem_model *model = open_model();
    tem_error error;
    assert_int_equal(tem_model_trust(model, NULL, NULL, &error), TEM_ERR_UNTRUSTED);
    assert_string_equal(error.file, path);
    add(certificate_hash_of(genuine)); /* says nothing about the model */
    assert_int_equal(tem_model_trust(model, NULL, NULL, NULL), TEM_ERR_UNTRUSTED);
    assert_gated(model);
    add(hash_of(built));
    assert_int_equal(tem_model_trust(model, NULL, NULL, NULL), TEM_OK);
    assert_open(model);
    tem_model_free(model);
    /* Without a place for a list, no model is listed. */
    model = open_model();
    unsetenv("XDG_STATE_HOME");
    setenv("HOME", "", 1);
    assert_int_equal(tem_model_trust(model, NULL, NULL, &error), TEM_ERR_UNTRUSTED);
    assert_string_equal(error.file, "");
    assert_gated(model);
    tem_model_free(model);
}

static void test_trust_by_place(void **state) {
    (void)state;
    tem_model *model = open_model();
    tem_model_trust_own(model);
    assert_open(model);
    tem_model_free(model);
}

static void test_trust_by_verification(void **state) {
    (void)state;
    tem_model *model = open_model();
    assert_int_equal(tem_model_verify(model, NULL, NULL), TEM_OK);
    assert_open(model);
    assert_false(is_listed(hash_of(built))); /* trusted in this process only */
    tem_model_free(model);
    /* A model that fails verification loses the trust it had. */
    model = open_forged();
    tem_model_trust_own(model);
    assert_int_equal(tem_model_verify(model, NULL, NULL), TEM_ERR_DAMAGED);
    assert_gated(model);
    tem_model_free(model);
}

/* The rule as a whole: a named hash decides alone, then the place, then the list. */
static void test_accepted_models(void **state) {
    (void)state;
    tem_error error;
    char other[65], own[65];
    memset(other, '0', 64);
    other[64] = '\0';
    memcpy(own, hash_of(built), sizeof own);
    for (int is_own = 0; is_own < 2; is_own++) {
        tem_model *model = open_model();
        assert_int_equal(tem_model_accept(model, other, is_own, NULL, &error), TEM_ERR_UNTRUSTED);
        assert_false(tem_model_is_trusted(model));
        assert_int_equal(tem_model_accept(model, NULL, is_own, NULL, &error),
                         is_own ? TEM_OK : TEM_ERR_UNTRUSTED);
        assert_int_equal(tem_model_is_trusted(model), is_own);
        if (!is_own) /* the message states the fact, and names no command */
            assert_string_equal(error.message, "you have neither built nor verified this model");
        tem_model_free(model);
        model = open_model();
        assert_int_equal(tem_model_accept(model, own, is_own, NULL, NULL), TEM_OK);
        tem_model_free(model);
    }
    /* Also what came with the program is compared with its hashes. */
    read_model();
    file.data[section(SECTION_VECTORS)->offset] ^= 1;
    write_model();
    tem_model *damaged = open_model();
    assert_int_equal(tem_model_accept(damaged, NULL, 1, NULL, NULL), TEM_ERR_DAMAGED);
    assert_false(tem_model_is_trusted(damaged));
    tem_model_free(damaged);
    assert_int_equal(tem_model_accept(NULL, NULL, 1, NULL, NULL), TEM_ERR_ARGUMENT);
}

/* A certificate counts beside the program's own model, or if it is in the user's list. */
static void test_accepted_certificates(void **state) {
    (void)state;
    tem_error error;
    tem_certificate_info info;
    char elsewhere[120];
    tem_certificate_get_info(genuine, &info);
    snprintf(elsewhere, sizeof elsewhere, "%s.old", certificates);
    tem_model *model = open_model(), *program = open_model();
    assert_int_equal(tem_model_accept(program, NULL, 1, NULL, NULL), TEM_OK);
    assert_int_equal(tem_certificate_trust(&info, program, certificates, &error), TEM_OK);
    const char *const paths[] = {elsewhere, path, "", certificates};
    for (int i = 0; i < 4; i++) {
        const tem_model *asked = i < 3 ? program : model;
        assert_int_equal(tem_certificate_trust(&info, asked, paths[i], &error),
                         TEM_ERR_CERTIFICATE);
        assert_string_equal(error.file, paths[i]);
        assert_string_equal(error.message, "you have neither made nor verified this certificate");
    }
    /* A verification that failed takes the trust of the program's own model away. */
    trusted_set(program, false);
    assert_int_equal(tem_certificate_trust(&info, program, certificates, NULL),
                     TEM_ERR_CERTIFICATE);
    /* Its user has named the hash: nothing came with the program. */
    assert_int_equal(tem_model_accept(model, hash_of(built), 0, NULL, NULL), TEM_OK);
    assert_int_equal(tem_certificate_trust(&info, model, certificates, &error),
                     TEM_ERR_CERTIFICATE);
    add(info.hash);
    assert_int_equal(tem_certificate_trust(&info, model, certificates, &error), TEM_OK);
    assert_int_equal(tem_certificate_trust(&info, built, elsewhere, &error), TEM_OK);
    assert_int_equal(tem_certificate_trust(NULL, model, certificates, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_certificate_trust(&info, NULL, certificates, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(tem_certificate_trust(&info, model, NULL, NULL), TEM_ERR_ARGUMENT);
    tem_model_free(model);
    tem_model_free(program);
}

/* A front that is trusted, before content that is not: the hash must be that of the content. */
static void test_hash_of_bytes(void **state) {
    (void)state;
    static const uint32_t kinds[] = {SECTION_WORD_STARTS, SECTION_WORD_BYTES,  SECTION_WORD_TABLE,
                                     SECTION_VECTORS,     SECTION_LIST_STARTS, SECTION_LISTS,
                                     SECTION_BOUNDS};
    char hash[65];
    snprintf(hash, sizeof hash, "%s", hash_of(built));
    add(hash);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        tem_model_info info;
        assert_int_equal(tem_model_save(built, path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
        read_model();
        file.data[section(kinds[i])->offset + section(kinds[i])->bytes - 1] ^= 1;
        write_model();
        tem_model *model = open_model();
        tem_model_get_info(model, &info);
        assert_string_equal(info.hash, hash); /* the header claims to be trusted */
        assert_string_not_equal(hash_of(model), hash);
        assert_int_equal(tem_model_trust(model, NULL, NULL, NULL), TEM_ERR_DAMAGED);
        assert_int_equal(tem_model_trust(model, hash, NULL, NULL), TEM_ERR_DAMAGED);
        assert_gated(model);
        tem_model_free(model);
    }
}

/* ---- the attack ---- */

/* The number of words that come back unchanged. */
static int draws_unchanged(const tem_model *model, const tem_certificate *certificate) {
    const tem_mechanism_options options = {.epsilon = 0.5, .certificate = certificate};
    tem_mechanism *mechanism = NULL;
    tem_rng *rng = NULL;
    int unchanged = 0;
    assert_int_equal(tem_mechanism_create(model, &options, &mechanism, NULL), TEM_OK);
    assert_int_equal(tem_rng_create_insecure(1, 1, &rng, NULL), TEM_OK);
    for (uint32_t id = 0; id < COUNT; id++) {
        uint32_t out = 0;
        if (tem_mechanism_draw(mechanism, rng, id, &out, NULL) == TEM_OK)
            unchanged += out == id;
    }
    tem_rng_free(rng);
    tem_mechanism_free(mechanism);
    return unchanged;
}

static void test_forged_lists(void **state) {
    (void)state;
    add(hash_of(built));
    add(certificate_hash_of(genuine));
    tem_model *model = open_forged();
    assert_int_equal(tem_model_check(model, NULL, NULL), TEM_OK);
    assert_true(tem_certificate_is_for(genuine, model));
    assert_int_equal(tem_model_trust(model, NULL, NULL, NULL), TEM_ERR_UNTRUSTED);
    assert_gated(model);
    /* The attack: nearly all words come back unchanged, whatever the certificate says. */
    tem_model_trust_own(model);
    assert_true(draws_unchanged(model, NULL) > COUNT * 9 / 10);
    assert_true(draws_unchanged(model, genuine) > COUNT * 9 / 10);
    assert_true(draws_unchanged(built, genuine) < COUNT * 9 / 10);
    tem_model_free(model);
}

/* ---- verification and the list ---- */

typedef struct tale {
    int models, certificates, failures;
    tem_error failure;
} tale;

static void told(void *context, const tem_certificate_info *certificate, const tem_error *failure) {
    tale *t = context;
    t->models += certificate == NULL;
    t->certificates += certificate != NULL;
    t->failures += failure != NULL;
    if (failure != NULL)
        t->failure = *failure;
}

static tem_status verify(tem_model *model, tale *t, tem_error *unnoted, const tem_run *run) {
    tem_error error = {.status = TEM_OK};
    *t = (tale){0};
    const tem_verification how = {.certificates = certificates, .told = told, .told_context = t};
    const tem_status status = tem_trust_verify(model, &how, run, unnoted, &error);
    assert_int_equal(error.status, status);
    assert_true((status != TEM_OK) == (t->failures > 0));
    return status;
}

static void test_verification_notes(void **state) {
    (void)state;
    tale t;
    tem_error unnoted;
    tem_model *model = open_model();
    assert_int_equal(tem_trust_verify(NULL, NULL, NULL, NULL, NULL), TEM_ERR_ARGUMENT);
    assert_int_equal(verify(model, &t, &unnoted, NULL), TEM_OK);
    assert_true(t.models == 1 && t.certificates == 1);
    assert_int_equal(unnoted.status, TEM_OK);
    assert_true(is_listed(hash_of(built)) && is_listed(certificate_hash_of(genuine)));
    assert_open(model);
    tem_model_free(model);
    model = open_model();
    assert_int_equal(tem_model_trust(model, NULL, NULL, NULL), TEM_OK);
    /* No certificates, and a caller that passes no outputs. */
    assert_int_equal(tem_trust_remove(hash_of(built), NULL, NULL), TEM_OK);
    assert_int_equal(tem_trust_verify(model, NULL, NULL, NULL, NULL), TEM_OK);
    assert_true(is_listed(hash_of(built)));
    unlink(certificates);
    assert_int_equal(verify(model, &t, NULL, NULL), TEM_OK);
    assert_true(t.models == 1 && t.certificates == 0);
    tem_model_free(model);
}

/* Removes trust in the model and in the certificates beside it, and in no others. */
static void test_failed_verification(void **state) {
    (void)state;
    tale t;
    tem_error unnoted;
    char claimed[65], others[65];
    snprintf(others, sizeof others, "%s", hash_of(built));
    tem_model *model = open_forged();
    snprintf(claimed, sizeof claimed, "%s", hash_of(model));
    assert_string_not_equal(claimed, others);
    add(others);
    add(claimed); /* the user was deceived once */
    add(certificate_hash_of(genuine));
    assert_int_equal(tem_model_trust(model, NULL, NULL, NULL), TEM_OK);
    assert_int_equal(verify(model, &t, &unnoted, NULL), TEM_ERR_DAMAGED);
    assert_true(t.models == 1 && t.certificates == 0);
    assert_string_equal(t.failure.file, path);
    assert_int_equal(unnoted.status, TEM_OK);
    assert_false(is_listed(claimed));
    assert_false(is_listed(certificate_hash_of(genuine)));
    assert_true(is_listed(others));
    assert_gated(model);
    tem_model_free(model);
    model = open_model();
    assert_int_equal(tem_model_trust(model, NULL, NULL, NULL), TEM_ERR_UNTRUSTED);
    tem_model_free(model);
}

/* Sections that do not match their header: neither hash stays trusted. */
static void test_failed_both_hashes(void **state) {
    (void)state;
    tale t;
    char claimed[65], computed[65];
    read_model();
    file.data[section(SECTION_BOUNDS)->offset] ^= 1;
    write_model();
    tem_model *model = open_model();
    snprintf(claimed, sizeof claimed, "%s", hash_of(built));
    snprintf(computed, sizeof computed, "%s", hash_of(model));
    add(claimed);
    add(computed);
    assert_int_equal(verify(model, &t, NULL, NULL), TEM_ERR_DAMAGED);
    assert_false(is_listed(claimed) || is_listed(computed));
    tem_model_free(model);
}

/* An invalid certificate loses its own trust. The recomputed model stays valid without it. */
static void test_failed_certificate(void **state) {
    (void)state;
    tale t;
    unsigned char record[320 + 64];
    tem_certificate *forged = NULL;
    FILE *in = fopen(certificates, "r+b");
    assert_non_null(in);
    assert_int_equal(fread(record, 1, sizeof record, in), sizeof record);
    record[64 + 24] ^= 64; /* changes s slightly */
    record[64 + 25] ^= 64;
    record[64 + 26] ^= 1;
    core_hash256(record + 64, 288, record + 64 + 288);
    rewind(in);
    assert_int_equal(fwrite(record, 1, sizeof record, in), sizeof record);
    fclose(in);
    assert_int_equal(tem_certificate_load(certificates, 0, &forged, NULL), TEM_OK);
    add(certificate_hash_of(forged));
    tem_model *model = open_model();
    assert_int_equal(verify(model, &t, NULL, NULL), TEM_ERR_CERTIFICATE);
    assert_true(t.models == 1 && t.certificates == 1 && t.failures == 1);
    assert_false(is_listed(certificate_hash_of(forged)));
    assert_true(is_listed(hash_of(built)));
    tem_model_free(model);
    tem_certificate_free(forged);
}

/* A certificate for another model says nothing about either. */
static void test_certificate_of_another(void **state) {
    (void)state;
    tale t;
    tem_model *other = build_ring(RING);
    add(certificate_hash_of(genuine));
    assert_int_equal(tem_model_save(other, path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    tem_model *model = open_model();
    assert_int_equal(verify(model, &t, NULL, NULL), TEM_ERR_CERTIFICATE);
    assert_true(t.models == 1 && t.certificates == 1);
    assert_true(is_listed(certificate_hash_of(genuine)));
    assert_true(is_listed(hash_of(other)));
    tem_model_free(model);
    tem_model_free(other);
}

static void test_damaged_certificates(void **state) {
    (void)state;
    tale t;
    FILE *out = fopen(certificates, "wb");
    assert_non_null(out);
    fputs("a letter", out);
    fclose(out);
    tem_model *model = open_model();
    assert_int_equal(verify(model, &t, NULL, NULL), TEM_ERR_FORMAT);
    assert_string_equal(t.failure.file, certificates);
    assert_true(is_listed(hash_of(built)));
    tem_model_free(model);
}

static int stop(void *context, const char *stage, uint64_t done, uint64_t total) {
    (void)context, (void)stage, (void)done, (void)total;
    return 1;
}

/* A stopped verification proves nothing against a model. */
static void test_stopped_verification(void **state) {
    (void)state;
    tale t;
    const tem_run run = {.progress = stop};
    add(hash_of(built));
    add(certificate_hash_of(genuine));
    tem_model *model = open_model();
    assert_int_equal(verify(model, &t, NULL, &run), TEM_ERR_CANCELLED);
    assert_true(is_listed(hash_of(built)) && is_listed(certificate_hash_of(genuine)));
    tem_model_free(model);
}

/* Without a place for a list, a valid model is still trusted in this process. */
static void test_unnoted_verification(void **state) {
    (void)state;
    tale t;
    tem_error unnoted;
    tem_model *model = open_model();
    unsetenv("XDG_STATE_HOME");
    setenv("HOME", "", 1);
    assert_int_equal(verify(model, &t, &unnoted, NULL), TEM_OK);
    assert_int_equal(unnoted.status, TEM_ERR_UNTRUSTED);
    assert_open(model);
    tem_model_free(model);
}

/* ---- a matrix that is not a metric ---- */

/* Neighbors on the ring are close to each other, all other words far apart. Z is the same
 * everywhere, so the loss of a pair looks like s; but the outputs near one word are far from the
 * other. */
static void forge_ring(void) {
    uint32_t *matrix = (uint32_t *)(void *)(file.data + section(SECTION_MATRIX)->offset);
    for (uint32_t a = 1; a < RING; a++)
        for (uint32_t b = 0; b < a; b++)
            matrix[space_pair_index(a, b)] =
                a - b == 1 || a - b == RING - 1 ? TEM_DIST_ONE / 500 : TEM_DIST_ONE;
}

static void test_forged_ring(void **state) {
    (void)state;
    tem_model *honest = build_ring(RING);
    tem_accountant *accountant = NULL;
    tem_model_info info;
    tem_error error;
    tale t;
    assert_int_equal(tem_model_save(honest, path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    unlink(certificates);
    read_model();
    forge_ring();
    reseal();
    write_model();
    tem_model *model = open_model();
    tem_model_get_info(model, &info);
    assert_int_equal(info.triangles_exhaustive, 1); /* the file claims it */
    assert_int_equal(tem_model_trust(model, hash_of(model), NULL, NULL), TEM_OK);
    assert_int_equal(tem_accountant_create(model, NULL, NULL, &accountant, &error), TEM_ERR_METRIC);
    assert_non_null(strstr(error.message, "triangle"));
    add(hash_of(model));
    assert_int_equal(verify(model, &t, NULL, NULL), TEM_ERR_DAMAGED);
    assert_false(is_listed(hash_of(model)));
    tem_model_free(model);
    tem_model_free(honest);
}

static double apart(void *context, uint32_t a, uint32_t b) {
    (void)context;
    return 1 + 1.0 / (2 + a + b);
}

/* Beyond 400 words nothing is proved, whatever a file claims about its triangles. */
static void test_claimed_triangles(void **state) {
    (void)state;
    enum { MANY = 401 };
    static char names[MANY][8];
    const char *words[MANY];
    tem_model *made = NULL;
    tem_accountant *accountant = NULL;
    tem_mechanism *mechanism = NULL;
    tem_certificate *certificate = NULL;
    tem_audit audit;
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "w%d", i);
        words[i] = names[i];
    }
    assert_int_equal(tem_model_build_function(words, MANY, apart, NULL, 4, NULL, &made, NULL),
                     TEM_OK);
    assert_int_equal(tem_model_save(made, path, TEM_OVERWRITE, NULL, NULL), TEM_OK);
    read_model();
    ((model_header *)(void *)file.data)->triangles |= (uint64_t)1 << 63;
    reseal();
    write_model();
    tem_model *model = open_model();
    const tem_calibration wanted = {.epsilon = 0.5};
    assert_int_equal(tem_model_trust(model, hash_of(model), NULL, NULL), TEM_OK);
    assert_int_equal(tem_mechanism_create(model, &half, &mechanism, NULL), TEM_OK);
    assert_int_equal(tem_accountant_create(model, NULL, NULL, &accountant, NULL), TEM_OK);
    assert_int_equal(tem_accountant_audit(accountant, mechanism, NULL, &audit, NULL), TEM_OK);
    assert_int_equal(audit.is_metric, 0);
    assert_int_equal(tem_accountant_calibrate(accountant, &wanted, NULL, &certificate, NULL, NULL),
                     TEM_ERR_UNSUPPORTED);
    tem_accountant_free(accountant);
    tem_mechanism_free(mechanism);
    tem_model_free(model);
    tem_model_free(made);
}

#ifdef TEM_FAULTS
/* Fails the nth allocation or system call, for all n. A fault is no verdict: nothing that holds
 * loses its trust, and what was said to be noted is. */
static void test_faults(void **state) {
    (void)state;
    const tem_run run = {.threads = 1};
    for (uint64_t n = 1;; n++) {
        tale t;
        tem_error unnoted = {.status = TEM_OK};
        set_up(NULL);
        add(hash_of(built));
        tem_model *model = open_model();
        core_fault_arm(n);
        const tem_status status = verify(model, &t, &unnoted, &run);
        const bool hit = core_fault_hit();
        core_fault_arm(0);
        assert_true(is_listed(hash_of(built)));
        assert_true(status == TEM_OK || status == TEM_ERR_MEMORY || status == TEM_ERR_FILE);
        assert_true(is_listed(certificate_hash_of(genuine)) || status != TEM_OK ||
                    unnoted.status != TEM_OK);
        assert_true(!hit || status != TEM_OK || unnoted.status != TEM_OK);
        tem_model_free(model);
        if (!hit) {
            assert_true(status == TEM_OK && n > 40);
            return;
        }
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_gate, set_up),
        cmocka_unit_test_setup(test_trust_by_hash, set_up),
        cmocka_unit_test_setup(test_trust_by_list, set_up),
        cmocka_unit_test_setup(test_trust_by_place, set_up),
        cmocka_unit_test_setup(test_trust_by_verification, set_up),
        cmocka_unit_test_setup(test_accepted_models, set_up),
        cmocka_unit_test_setup(test_accepted_certificates, set_up),
        cmocka_unit_test_setup(test_hash_of_bytes, set_up),
        cmocka_unit_test_setup(test_forged_lists, set_up),
        cmocka_unit_test_setup(test_verification_notes, set_up),
        cmocka_unit_test_setup(test_failed_verification, set_up),
        cmocka_unit_test_setup(test_failed_both_hashes, set_up),
        cmocka_unit_test_setup(test_failed_certificate, set_up),
        cmocka_unit_test_setup(test_certificate_of_another, set_up),
        cmocka_unit_test_setup(test_damaged_certificates, set_up),
        cmocka_unit_test_setup(test_stopped_verification, set_up),
        cmocka_unit_test_setup(test_unnoted_verification, set_up),
        cmocka_unit_test_setup(test_forged_ring, set_up),
        cmocka_unit_test_setup(test_claimed_triangles, set_up),
#ifdef TEM_FAULTS
        cmocka_unit_test_setup(test_faults, set_up),
#endif
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
