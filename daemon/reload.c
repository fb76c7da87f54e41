// SPDX-License-Identifier: Apache-2.0
//
// The files are read into a configuration of its own, which is checked twice: as it is, and
// together with the old values of the keys that need a restart. Only then each changed key is
// copied. What the user wrote is kept beside what is in force, because paths are resolved there: a
// key has changed if the user wrote something else.
#include "daemon/reload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/clocks.h"
#include "daemon/base/log.h"
#include "daemon/conf/command_line.h"
#include "daemon/conf/conf_file.h"
#include "daemon/conn/server.h"
#include "daemon/conn/session_expiry.h"
#include "daemon/follow/watch.h"
#include "daemon/socket/activation.h"

int reload_init(struct reload *reload, struct conf *config, int argc, char **argv) {
    *reload = (struct reload){.config = config, .argc = argc, .argv = argv};
    int r = conf_init(&reload->given);
    for (size_t i = 0; r == 0 && i < conf_key_count; i++) {
        r = conf_copy(&reload->given, config, &conf_keys[i]);
    }
    return r;
}

void reload_deinit(struct reload *reload) {
    conf_deinit(&reload->given);
}

static void on_fault(void *context, const char *sentence) {
    struct reload_result *result = context;
    size_t len = strlen(result->why);
    log_error("the configuration stays as it was: %s", sentence);
    snprintf(result->why + len, sizeof(result->why) - len, "%s%s", len ? "\n" : "", sentence);
}

// Applies the keys that can change. The others keep their old values, so each reload names them
// again.
static int apply(struct reload *reload, const struct conf *wanted, struct reload_result *result) {
    for (size_t i = 0; i < conf_key_count; i++) {
        const struct conf_key *key = &conf_keys[i];
        if (!conf_differs(&reload->given, wanted, key)) {
            continue;
        }
        if (key->change == CONF_RESTART) {
            result->restart[result->restart_count++] = key;
            continue;
        }
        if (conf_copy(&reload->given, wanted, key) < 0 ||
            conf_copy(reload->config, wanted, key) < 0) {
            return -ENOMEM;
        }
        result->applied[result->applied_count++] = key;
        if (key->offset == offsetof(struct conf, log_level)) {
            log_set_level((enum log_level)reload->config->log_level);
        }
    }
    server_configure(reload->server);
    expiry_configure(reload->expiry);
    watch_configure(reload->watch);
    return 0;
}

// Checks what will be in force: the new values, and the old ones of the keys that need a restart.
// Returns 0, 1 for a fault, or -ENOMEM.
static int check_merged(const struct reload *reload, const struct conf *wanted,
                        struct reload_result *result) {
    const struct conf_key *keys[2];
    struct conf merged;
    char why[256], sentence[320];
    int r = conf_init(&merged);
    for (size_t i = 0; r == 0 && i < conf_key_count; i++) {
        bool stays = conf_keys[i].change == CONF_RESTART;
        r = conf_copy(&merged, stays ? &reload->given : wanted, &conf_keys[i]);
    }
    if (r == 0 && conf_check(&merged, keys, why, sizeof(why)) != 0) {
        snprintf(sentence, sizeof(sentence), "a part of it needs a restart, and until then %s",
                 why);
        on_fault(result, sentence);
        r = 1;
    }
    conf_deinit(&merged);
    return r;
}

static const char *list_of(const struct conf_key *const *keys, size_t count, char *text,
                           size_t size) {
    size_t len = 0;
    snprintf(text, size, "%s", count ? "" : "none");
    for (size_t i = 0; i < count && len < size; i++) {
        int n = snprintf(text + len, size - len, "%s%s", i ? "," : "", keys[i]->name);
        len += n > 0 ? (size_t)n : 0;
    }
    return text;
}

static void log_result(const struct reload_result *result) {
    char applied[1024], restart[1024];
    list_of(result->applied, result->applied_count, applied, sizeof(applied));
    list_of(result->restart, result->restart_count, restart, sizeof(restart));
    if (result->restart_count) {
        log_warning("configuration reloaded, a part of it needs a restart applied=%s "
                    "needs_restart=%s",
                    applied, restart);
    } else {
        log_info("configuration reloaded applied=%s", applied);
    }
}

static void notify_begin(void) {
    char state[64];
    snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
             (uint64_t)clocks_monotonic_ns() / 1000);
    activation_notify(state);
}

int reload_run(struct reload *reload, struct reload_result *result) {
    struct conf wanted;
    const struct nvtxt_faults faults = {.complain = on_fault, .context = result};
    *result = (struct reload_result){0};
    notify_begin();
    int r = conf_init(&wanted);
    if (r == 0) {
        r = options_read_again(reload->argc, reload->argv, &wanted, &faults);
    }
    if (r == 0) {
        r = check_merged(reload, &wanted, result);
    }
    if (r == 0) {
        r = apply(reload, &wanted, result);
    }
    conf_deinit(&wanted);
    if (r < 0 && !result->why[0]) { // every other fault has its sentence
        on_fault(result, "out of memory");
    }
    if (r == 0) {
        log_result(result);
    }
    activation_notify(r == 0 ? "READY=1\nSTATUS=Running"
                             : "READY=1\nSTATUS=Running; the last reload was refused, see the log");
    return r == 0 ? 0 : 1;
}
