// SPDX-License-Identifier: Apache-2.0
//
// The extension PAYLOAD: schemas, enums and scopes that programs register, and events that bear
// payloads of them. What payloads say becomes the event's JSON, and its message, category and color
// where a member is meant for that.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "inject/handles.h"

// Bytes of a value of a type or schema; SIZE_MAX: its values differ, or nobody knows it.
size_t payload_value_size(const struct inject_domain *domain, uint64_t schema);

// The path of a scope; NULL: it is not a program's.
const char *payload_scope(const struct inject_domain *domain, uint64_t scope);
