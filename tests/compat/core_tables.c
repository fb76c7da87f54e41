// SPDX-License-Identifier: Apache-2.0
//
// Prints what the tables of protocol/, client/ and daemon/ promise (nvtxt-compat(7)), a fact a
// line: the name of the interface, a tab, the fact. The messages of the sockets are printed as they
// are sent, with every member that they can have; interfaces.py takes the facts from them.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/common/outcome.h"
#include "daemon/conf/conf.h"
#include "daemon/control/control_cmds.h"
#include "protocol/lang/diag.h"
#include "protocol/lang/timebase.h"
#include "protocol/wire/hello.h"
#include "protocol/wire/reply.h"
#include "tests/compat/keys.h"

// ---- The language -------------------------------------------------------------------------------

static const char *const takes[] = {
    [NVTXT_TAKES_INTEGER] = "integer", [NVTXT_TAKES_STRING] = "string",
    [NVTXT_TAKES_TEXT] = "text",       [NVTXT_TAKES_COLOR] = "color",
    [NVTXT_TAKES_PAYLOAD] = "payload", [NVTXT_TAKES_JSON] = "json",
    [NVTXT_TAKES_WORD] = "word",       [NVTXT_TAKES_HANDLE] = "handle",
};

static void print_command(const struct nvtxt_command_info *info) {
    printf("language\t%s: command%s\n", info->name.data,
           info->nvtx ? " of the extension nvtx" : "");
    for (unsigned i = 0; i < (unsigned)info->arg_count + info->nvtx_count; i++) {
        const struct nvtxt_arg_info *arg = &nvtxt_args[info->args[i]];
        printf("language\t%s %s: ", info->name.data, arg->name.data);
        if (i < info->arg_count) {
            printf("value %u of the default definition", i + 1);
        } else {
            printf("extension nvtx");
        }
        printf(info->required & nvtxt_arg_bit(info->args[i]) ? ", required\n" : "\n");
    }
}

static void print_language(void) {
    for (unsigned i = 0; i < NVTXT_CMD_COUNT; i++) {
        print_command(&nvtxt_commands[i]);
    }
    for (unsigned i = 0; i < NVTXT_ARG_COUNT; i++) {
        printf("language\targument %s: %s\n", nvtxt_args[i].name.data, takes[nvtxt_args[i].type]);
    }
    for (unsigned i = 0; i < NVTXT_TIMEBASE_UNKNOWN; i++) {
        printf("language\ttime base %s: word\n", nvtxt_timebase_name((enum nvtxt_timebase)i));
    }
}

static void print_codes(void) {
    for (unsigned i = 0; i < NVTXT_DIAG_CODE_COUNT; i++) {
        enum nvtxt_diag_code code = (enum nvtxt_diag_code)i;
        printf("codes\tnvtxt %s %s: %s\n", nvtxt_stage_name(nvtxt_diag_stage(code)),
               nvtxt_diag_code_name(code), nvtxt_severity_name(nvtxt_diag_severity(code)));
    }
}

// ---- The sockets --------------------------------------------------------------------------------

static void print_message(const char *name, struct nvtxt_buf *message) {
    printf("messages\t%s: %.*s", name, (int)message->len, message->data);
    nvtxt_buf_clear(message);
}

static void print_hellos(struct nvtxt_buf *out) {
    struct nvtxt_hello hello = {.protocol = NVTXT_PROTOCOL_VERSION,
                                .session = "0b5d2c9e6f0c4d0a9d5e0d1f7a3b8c21",
                                .client = "c",
                                .name = "n",
                                .is_probe = true,
                                .has_pid = true,
                                .mapping = {.mode = NVTXT_MAPPING_LERP},
                                .escapes = true,
                                .levels = true,
                                .nvtx = 1,
                                .nvtx_optional = true,
                                .expiry = 1,
                                .has_acked = true,
                                .parent = "a:b"};
    nvtxt_hello_format(out, &hello);
    print_message("hello", out);
    hello.mapping.mode = NVTXT_MAPPING_LIN;
    nvtxt_hello_format(out, &hello);
    print_message("hello", out);
    nvtxt_lost_format(out, &(struct nvtxt_lost){1, NVTXT_LOST_FULL});
    print_message("lost", out);
    nvtxt_keyed_format(out, &(struct nvtxt_keyed){.key = "k", .parent = "a:b"});
    print_message("range", out);
}

static void print_replies(struct nvtxt_buf *out) {
    const struct nvtxt_limits limits = NVTXT_LIMITS_DEFAULT;
    nvtxt_reply_welcome(out, &(struct nvtxt_welcome){.session = "s",
                                                     .limits = &limits,
                                                     .synchronous = "full",
                                                     .version = "v",
                                                     .control = "/c",
                                                     .store = "/s",
                                                     .nvtx = true,
                                                     .levels = true,
                                                     .escapes = true});
    print_message("welcome", out);
    nvtxt_reply_ack(out, 1);
    print_message("ack", out);
    nvtxt_reply_diagnostic(out, 1, 1, "error", "lexing", "c", "m");
    print_message("diagnostic", out);
    nvtxt_reply_end(out, 1, 1, 1, 1, "expired");
    print_message("end", out);
    nvtxt_reply_error(out, "c", "m");
    print_message("error", out);
}

static void print_control(struct nvtxt_buf *out) {
    json_t *id = json_integer(1), *result = json_object();
    nvtxt_ctl_request_format(out, 1, "status", NULL);
    print_message("request", out);
    nvtxt_ctl_result_format(out, id, result);
    print_message("result", out);
    nvtxt_ctl_error_format(out, id, "c", "m");
    print_message("refusal", out);
    json_decref(id);
    json_decref(result);
    for (size_t i = 0; i < control_command_count; i++) {
        const struct control_command *command = &control_commands[i];
        printf("wire\tcontrol %s: command for %s\n", command->name,
               command->rights == RIGHTS_OPERATOR ? "operators" : "readers");
        for (const struct nvtxt_ctl_arg *arg = command->args; arg && arg->name; arg++) {
            printf("wire\tcontrol %s %s: %s%s", command->name, arg->name,
                   nvtxt_ctl_type_name(arg->type), arg->required ? ", required" : "");
            print_range(arg->min, arg->max);
            print_words("wire", "control", command->name, arg->name, arg->words);
        }
    }
}

static void print_wire(void) {
    static const char *const data_codes[] = {
        NVTXT_ERROR_BUSY_SESSION, NVTXT_ERROR_UNSUPPORTED_PROTOCOL,
        NVTXT_ERROR_BAD_HELLO,    NVTXT_ERROR_SHUTTING_DOWN,
        NVTXT_ERROR_QUOTA,        NVTXT_ERROR_UNREADABLE_SESSION,
        NVTXT_ERROR_DISCONNECTED};
    static const char *const control_codes[] = {NVTXT_CTL_BAD_REQUEST,  NVTXT_CTL_UNKNOWN_COMMAND,
                                                NVTXT_CTL_BAD_ARGUMENT, NVTXT_CTL_FAILED,
                                                NVTXT_CTL_FORBIDDEN,    NVTXT_CTL_BUSY};
    struct nvtxt_buf out = {0};
    print_hellos(&out);
    print_replies(&out);
    print_control(&out);
    nvtxt_buf_deinit(&out);
    printf("wire\tline %s: begins a session\n", NVTXT_HELLO_PREFIX);
    printf("wire\tline %s: of a session\n", NVTXT_LOST_PREFIX);
    printf("wire\tline %s: of a session\n", NVTXT_RANGE_PREFIX);
    printf("wire\tline %s: ends a session\n", NVTXT_END_LINE);
    for (size_t i = 0; i < sizeof(data_codes) / sizeof(data_codes[0]); i++) {
        printf("wire\terror code %s: data socket\n", data_codes[i]);
    }
    for (size_t i = 0; i < sizeof(control_codes) / sizeof(control_codes[0]); i++) {
        printf("wire\trefusal code %s: control socket\n", control_codes[i]);
    }
}

// ---- Statuses -----------------------------------------------------------------------------------

static void print_statuses(void) {
#define STATUS(name)                                                                               \
    printf("statuses\tclients " #name ": %d\n", outcome_exit_status(OUTCOME_##name))
    STATUS(DONE);
    STATUS(FAULTS);
    STATUS(FINDINGS);
    STATUS(UNDECIDED);
    STATUS(USAGE);
    STATUS(BAD_DATA);
    STATUS(NO_INPUT);
    STATUS(NO_DAEMON);
    STATUS(SYSTEM);
    STATUS(NO_OUTPUT);
    STATUS(IO);
    STATUS(LATER);
    STATUS(PROTOCOL);
    STATUS(FORBIDDEN);
    STATUS(CONFIG);
    STATUS(NO_READER);
#undef STATUS
}

int main(void) {
    print_language();
    print_codes();
    print_wire();
    print_statuses();
    print_keys("nvtxtd.conf", &conf_table);
    return 0;
}
