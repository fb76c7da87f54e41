// SPDX-License-Identifier: Apache-2.0
//
// Schemas, enums and scopes that programs register. Each call returns the number of what is kept, 0
// when it cannot be.
#pragma once

#include <stdint.h>

#include "inject/ext/abi_ext.h"
#include "inject/handles.h"

uint64_t registration_schema(const struct inject_domain *domain, const struct abi_schema *attr);
uint64_t registration_enum(const struct inject_domain *domain, const struct abi_enum *attr);
uint64_t registration_scope(const struct inject_domain *domain, const struct abi_scope *attr);

// The number that the library behind us gives for what a call of the extension PAYLOAD registers, 0
// without one.
uint64_t registration_chained(unsigned callback, const struct inject_domain *domain,
                              const void *attr);
