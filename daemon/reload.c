// SPDX-License-Identifier: Apache-2.0
//
// The files are read into a configuration of its own, which is checked twice: as it is, and
// together with the old values of the keys that need a restart. Only then each changed key is
// copied. What the user wrote is kept beside what is in force, because paths are resolved there: a
// key has changed if the user wrote something else.
#include "daemon/reload.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/conn/server.h"
#include "daemon/conn/session_expiry.h"
#include "daemon/follow/watch_state.h"
#include "daemon/socket/activation.h"
#include "protocol/base/clock.h"

int reload_init(struct reload *reload, struct conf *config, int argc, char **argv) {
    *reload = (struct reload){.config = config, .argc = argc, .argv = argv};
    int r = conf_init(&reload->as_written);
    for (size_t i = 0; r == 0 && i < conf_table.count; i++) {
        r = nvtxt_conf_copy(&reload->as_written, config, &conf_table.keys[i]);
    }
    return r;
}

void reload_deinit(struct reload *reload) {
    conf_deinit(&reload->as_written);
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
    for (size_t i = 0; i < conf_table.count; i++) {
        const struct nvtxt_conf_key *key = &conf_table.keys[i];
        if (!nvtxt_conf_differs(&reload->as_written, wanted, key)) {
            continue;
        }
        if (key->change == CONF_RESTART) {
            result->restart[result->restart_count++] = key;
            continue;
        }
        int r = nvtxt_conf_copy(&reload->as_written, wanted, key);
        r = r ?: nvtxt_conf_copy(reload->config, wanted, key);
        if (r < 0) {
            return r;
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
    const struct nvtxt_conf_key *keys[2];
    struct conf merged;
    char why[256], sentence[320];
    int r = conf_init(&merged);
    for (size_t i = 0; r == 0 && i < conf_table.count; i++) {
        bool stays = conf_table.keys[i].change == CONF_RESTART;
        r = nvtxt_conf_copy(&merged, stays ? &reload->as_written : wanted, &conf_table.keys[i]);
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

static const char *list_of(const struct nvtxt_conf_key *const *keys, size_t count, char *text,
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
             (uint64_t)nvtxt_monotonic_ns() / 1000);
    activation_notify(state);
}

int reload_run(struct reload *reload, struct reload_result *result) {
    struct conf wanted;
    const struct nvtxt_faults faults = {.complain = on_fault, .context = result};
    *result = (struct reload_result){0};
    notify_begin();
    int r = conf_init(&wanted);
    r = r ?: options_read_again(reload->argc, reload->argv, &wanted, &faults);
    r = r ?: check_merged(reload, &wanted, result);
    r = r ?: apply(reload, &wanted, result);
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
