/** Base, version and operation; a base that already ends in a version (`…/v1`, `…/paas/v4`) is not given another. */
export const joinPath = (base: string, version: string, operation: string): string =>
  /\/v\d+(beta)?$/.test(base) ? base + operation : base + version + operation
