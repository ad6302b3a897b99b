import type { StoredPlace } from '#features/stored-responses/service.ts'

/** Where a call goes because of what it names; `only`: nowhere else. */
export type StoredAt = StoredPlace & { only: boolean }
