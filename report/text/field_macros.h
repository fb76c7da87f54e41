// SPDX-License-Identifier: Apache-2.0
//
// Short words for tables of fields; for the files that have such tables. SELF is the struct of the
// message that is being described:
//
//   #define SELF report_section_set
//   static const struct report_field set_fields[] = {
//       FIELD(1, "Identifier", STRING, identifier, MUST),
//       {0},
//   };
//   static const struct report_message_type set_type = TYPE(set, "Sets");
//   #undef SELF
#pragma once

#include "report/text/fields.h"

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
    { name, sizeof(struct SELF), variable##_fields }
