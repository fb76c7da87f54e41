// SPDX-License-Identifier: Apache-2.0
//
// Reads the text format into structs (nvtxt-section(5), "TEXT FORMAT"). A fault of the format ends
// the reading; unknown, missing and doubled fields are told, and it goes on.
#pragma once

#include "report/text/fields.h"

#define REPORT_TEXT_DEPTH 32 // messages in messages

// Reads `text` as a message of that type. The struct and all that it points to are pieces of the
// arena; nothing of `text` is kept. Returns 0, NVTXT_WRONG when an error went into the messages,
// which are in the order of their places then, or -ENOMEM. `*message` is what could be read; NULL
// only with -ENOMEM.
int report_text_parse(const struct report_message_type *type, struct nvtxt_slice text,
                      const char *file, struct store_arena *arena, struct report_messages *messages,
                      void **message);

// ---- Tables of fields ---------------------------------------------------------------------------

// Short words for tables of fields; for the files that have such tables. SELF is the struct of the
// message that is being described:
//
//   #define SELF report_section_set
//   static const struct report_field set_fields[] = {
//       FIELD(1, "Identifier", STRING, identifier, MUST),
//   };
//   static const struct report_message_type set_type = TYPE(set, "Sets");
//   #undef SELF
#define FIELD(number_, name_, type_, member, ...)                                                  \
    {                                                                                              \
        .number = number_, .name = name_, .type = REPORT_FIELD_##type_,                            \
        .offset = offsetof(struct SELF, member), __VA_ARGS__                                       \
    }
#define ONE .required = false
#define MUST .required = true
#define MANY .repeated = true
#define OF(type) .message = &type##_type // of MESSAGE
#define WORDS(list) .values = list       // of ENUM
#define TYPE(variable, name)                                                                       \
    {                                                                                              \
        name, sizeof(struct SELF), variable##_fields,                                              \
            sizeof(variable##_fields) / sizeof(variable##_fields[0])                               \
    }
