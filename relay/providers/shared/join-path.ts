/**
 * Base, version and operation; a base that already ends in a version (`…/v1`, `…/paas/v4`), or names the form behind one
 * (`…/v1/openai`, as DeepInfra and Gemini do), is not given another.
 */
export const joinPath = (base: string, version: string, operation: string): string =>
  /\/v\d+(beta)?(\/openai)?$/.test(base) ? base + operation : base + version + operation
