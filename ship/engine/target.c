// SPDX-License-Identifier: Apache-2.0
//
// What a target leaves open goes into libpq's environment variables, because they rank below the
// target and its service file and above libpq's own defaults. The few for which it has no variable
// become key words.
#include "ship/engine/pg.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/base/origin.h"

static const char *value_of(const PQconninfoOption *options, const char *key) {
    for (; options && options->keyword; options++) {
        if (strcmp(options->keyword, key) == 0) {
            return options->val;
        }
    }
    return NULL;
}

// For texts that cannot be asked for their key words.
static bool may_have_password(const char *text) {
    return strcasestr(text, "pass") || strchr(text, '@');
}

static PQconninfoOption *parse(const char *target, struct failure *failure) {
    char *why = NULL;
    PQconninfoOption *options = PQconninfoParse(target, &why);
    if (!options && !why) {
        failure_set(failure, FAILURE_MEMORY, "out of memory");
    } else if (!options) {
        // libpq quotes the word that it did not understand, which may be part of a password.
        bool secret = may_have_password(target);
        why[strcspn(why, "\n")] = '\0';
        failure_set(failure, FAILURE_TARGET, "the target is not understood%s%s", secret ? "" : ": ",
                    secret ? "" : why);
    }
    PQfreemem(why);
    return options;
}

static bool has(const char *text, char byte) {
    return text && strchr(text, byte);
}

// libpq takes a connection string there for the name of a database.
static bool is_nested_secret(const char *dbname) {
    return dbname && (strchr(dbname, '=') || strstr(dbname, "://")) && may_have_password(dbname);
}

// A password in a URI in which / or @ is not written as %XX: its rest is taken for the host, the
// port or the database. An abstract socket has its @ first.
static bool is_strayed_secret(const char *target, const PQconninfoOption *options) {
    const char *host = value_of(options, "host");
    return strncmp(target, "postgres", 8) == 0 && strstr(target, "://") &&
           (has(host && *host ? host + 1 : NULL, '@') || has(value_of(options, "port"), '@') ||
            has(value_of(options, "dbname"), '@'));
}

// An empty one, too: it may replace one that stands before it.
static bool has_password(const char *target, const PQconninfoOption *options) {
    return value_of(options, "password") || value_of(options, "sslpassword") ||
           is_nested_secret(value_of(options, "dbname")) || is_strayed_secret(target, options);
}

// libpq looks at ports late, and quotes one that is none, which may be a password.
static bool has_good_ports(const PQconninfoOption *options) {
    const char *ports = value_of(options, "port");
    return !ports || ports[strspn(ports, "0123456789, ")] == '\0';
}

enum failure_class target_check(const char *target, struct failure *failure) {
    PQconninfoOption *options = parse(target, failure);
    if (!options) {
        return failure->class;
    }
    bool has_secret = has_password(target, options), is_good = has_good_ports(options);
    PQconninfoFree(options);
    return has_secret ? failure_set(failure, FAILURE_PASSWORD,
                                    "a password in the target can be read by everyone: use a "
                                    "password file or a service")
           : is_good  ? FAILURE_NONE
                      : failure_set(failure, FAILURE_TARGET,
                                    "the target is not understood: its port is no number");
}

// Whether one host of the target, or its address, is this machine.
static bool is_local(const char *host, size_t len) {
    return len == 0 || *host == '/' || *host == '@' ||
           (len == 9 && !memcmp(host, "localhost", 9)) || (len == 3 && !memcmp(host, "::1", 3)) ||
           (len > 4 && !memcmp(host, "127.", 4));
}

static bool all_local(const char *hosts) {
    for (const char *at = hosts ?: "";; at++) {
        size_t len = strcspn(at, ",");
        if (!is_local(at, len)) {
            return false;
        }
        at += len;
        if (!*at) {
            return true;
        }
    }
}

static const char *system_bundle(void) {
    static const char *const paths[] = {"/etc/ssl/certs/ca-certificates.crt",
                                        "/etc/pki/tls/certs/ca-bundle.crt",
                                        "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (access(paths[i], R_OK) == 0) {
            return paths[i];
        }
    }
    return NULL;
}

static bool has_own_roots(void) {
    char path[4096];
    const char *home = getenv("HOME");
    snprintf(path, sizeof(path), "%s/.postgresql/root.crt", home ?: "");
    return home && access(path, F_OK) == 0;
}

static const char *effective(const PQconninfoOption *own, const PQconninfoOption *usual,
                             const char *key) {
    const char *value = value_of(own, key);
    return value ?: value_of(usual, key);
}

// libpq's defaults with the target's service: those of its file, the environment, its own.
static PQconninfoOption *usual_of(const PQconninfoOption *own) {
    const char *service = value_of(own, "service");
    return service && setenv("PGSERVICE", service, 1) != 0 ? NULL : PQconndefaults();
}

// libpq warns on stderr, where only this program speaks. A file is no folder, so with a / after its
// name there is none for libpq.
static void find_open_file(struct target_words *words, const PQconninfoOption *own,
                           const PQconninfoOption *usual) {
    const char *path = effective(own, usual, "passfile");
    const char *home = getenv("HOME");
    const char *folder = path && *path ? "" : home ?: "";
    struct stat status;
    snprintf(words->open_file, sizeof(words->open_file), "%s%s", folder,
             path && *path ? path : "/.pgpass");
    bool is_open = stat(words->open_file, &status) == 0 && S_ISREG(status.st_mode) &&
                   (status.st_mode & (S_IRWXG | S_IRWXO)) &&
                   strlen(words->open_file) + 1 < sizeof(words->open_file);
    strcpy(words->open_file + (is_open ? strlen(words->open_file) : 0), is_open ? "/" : "");
}

// ---- Several hosts ------------------------------------------------------------------------------

#define HOSTS_MOST 64

static const char *const host_words[] = {"host", "hostaddr", "port"};

// Item `index` of a list; a list of one item is that of all.
static struct nvtxt_slice item_of(const char *list, size_t index) {
    bool has_one = !has(list, ',');
    for (size_t i = 0; i < index && !has_one; i++) {
        list += strcspn(list, ",");
        list += *list == ',';
    }
    return (struct nvtxt_slice){list, strcspn(list, ",")};
}

// FNV-1a.
static uint64_t hash(uint64_t sum, struct nvtxt_slice text) {
    for (size_t i = 0; i < text.len; i++) {
        sum = (sum ^ (unsigned char)text.data[i]) * UINT64_C(1099511628211);
    }
    return sum;
}

// How much a store is for a host: each store has an order of its own, which the others of the list
// do not change.
static uint64_t weight_of(const char *const lists[3], size_t index, const char *spread) {
    uint64_t sum = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < 3; i++) {
        sum = hash(sum, lists[i] ? item_of(lists[i], index) : nvtxt_slice_of(""));
        sum = hash(sum, nvtxt_slice_of(","));
    }
    sum = hash(sum, nvtxt_slice_of(spread));
    return (sum ^ sum >> 32) * UINT64_C(0x9e3779b97f4a7c15);
}

static size_t count_hosts(const char *const lists[3]) {
    const char *list = lists[1] ?: lists[0];
    size_t count = 1;
    for (const char *at = list ?: ""; *at; at++) {
        count += *at == ',';
    }
    return count;
}

// Writes the hosts as they shall be tried. Lists that do not fit are left to libpq.
static void order_hosts(struct target_words *words, const struct pg_settings *settings,
                        const char *const lists[3]) {
    size_t order[HOSTS_MOST];
    size_t from = settings->only ? settings->only - 1 : 0;
    size_t to = settings->only ?: words->host_count;
    for (size_t i = 0; i < words->host_count; i++) {
        size_t at = i;
        uint64_t own = settings->spread ? weight_of(lists, i, settings->spread) : 0;
        for (;
             settings->spread && at > 0 && weight_of(lists, order[at - 1], settings->spread) < own;
             at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    for (size_t list = 0; list < 3; list++) {
        for (size_t i = from; lists[list] && i < to; i++) {
            struct nvtxt_slice item = item_of(lists[list], order[i]);
            nvtxt_buf_add_string(&words->hosts[list], i > from ? "," : "");
            nvtxt_buf_add(&words->hosts[list], item.data, item.len);
        }
        nvtxt_buf_add(&words->hosts[list], "", lists[list] ? 1 : 0);
    }
}

static void choose_hosts(struct target_words *words, const struct pg_settings *settings,
                         const PQconninfoOption *own, const PQconninfoOption *usual) {
    const char *lists[3];
    bool fits = true;
    for (size_t i = 0; i < 3; i++) {
        const char *list = effective(own, usual, host_words[i]);
        lists[i] = list && *list ? list : NULL;
    }
    words->host_count = count_hosts(lists);
    for (size_t i = 0; i < 3; i++) {
        const char *const one[3] = {lists[i]};
        size_t count = count_hosts(one);
        bool is_for_all = !lists[i] || (i == 2 && count == 1);
        fits = fits && (is_for_all || count == words->host_count);
    }
    bool chooses = settings->spread || settings->only;
    if (chooses && fits && words->host_count > 1 && words->host_count <= HOSTS_MOST) {
        order_hosts(words, settings, lists);
    }
}

void target_words_deinit(struct target_words *words) {
    for (size_t i = 0; i < 3; i++) {
        nvtxt_buf_deinit(&words->hosts[i]);
    }
}

// ---- The words ----------------------------------------------------------------------------------

static int secure(struct target_words *words, const struct pg_settings *settings,
                  const PQconninfoOption *own) {
    int added = getenv("PGSSLMODE") ? 0 : setenv("PGSSLMODE", "verify-full", 1) == 0 ? 1 : -1;
    PQconninfoOption *usual = added < 0 ? NULL : usual_of(own);
    if (!usual) {
        return nvtxt_origin(-ENOMEM);
    }
    const char *address = effective(own, usual, "hostaddr");
    const char *hosts = address && *address ? address : effective(own, usual, "host");
    const char *mode = effective(own, usual, "sslmode");
    const char *roots = effective(own, usual, "sslrootcert");
    const char *bundle = system_bundle();
    bool unforced = added && all_local(hosts);
    bool verifies =
        (!unforced || value_of(own, "sslmode")) && mode && strncmp(mode, "verify", 6) == 0;
    if (unforced) {
        unsetenv("PGSSLMODE");
    }
    int r = 0;
    if (verifies && !(roots && *roots) && !has_own_roots() && bundle) {
        r = setenv("PGSSLROOTCERT", bundle, 1);
    }
    find_open_file(words, own, usual);
    choose_hosts(words, settings, own, usual);
    PQconninfoFree(usual);
    return r ? nvtxt_origin(-ENOMEM) : 0;
}

static void add_word(struct target_words *words, const char *key, const char *value) {
    words->keys[words->count] = key;
    words->values[words->count++] = value;
}

enum failure_class target_words(struct target_words *words, const struct pg_settings *settings,
                                struct failure *failure) {
    *words = (struct target_words){0};
    PQconninfoOption *own = parse(settings->target, failure);
    if (!own) {
        return failure->class;
    }
    add_word(words, "dbname", settings->target);
    add_word(words, "fallback_application_name", "nvtxt-ship");
    add_word(words, "client_encoding", "UTF8");
    if (!value_of(own, "keepalives_idle")) {
        add_word(words, "keepalives_idle", "15");
    }
    if (!value_of(own, "tcp_user_timeout")) {
        add_word(words, "tcp_user_timeout", "30000");
    }
    int r = secure(words, settings, own);
    PQconninfoFree(own);
    for (size_t i = 0; i < 3; i++) {
        r = r ?: nvtxt_buf_failed(&words->hosts[i]) ? nvtxt_origin(-ENOMEM) : 0;
        if (r == 0 && words->hosts[i].len > 0) {
            add_word(words, host_words[i], words->hosts[i].data);
        }
    }
    if (r == 0 && *words->open_file) {
        add_word(words, "passfile", words->open_file);
    }
    return r < 0 ? failure_set(failure, FAILURE_MEMORY, "out of memory") : FAILURE_NONE;
}

size_t target_hosts(const struct pg_settings *settings) {
    struct target_words words;
    struct failure failure;
    bool good = target_words(&words, settings, &failure) == FAILURE_NONE;
    size_t count = good && words.host_count > 1 ? words.host_count : 1;
    target_words_deinit(&words);
    return count;
}
