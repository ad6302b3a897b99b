/**
 * Base, version and operation; a base that already ends in a version (`…/v1`, `…/paas/v4`), or names the form behind one
 * as Gemini and DeepInfra do, is not given another. Llama Stack has a version behind the form: `…/v1/openai/v1`.
 */
export const joinPath = (base: string, version: string, operation: string): string =>
  /(\/v\d+(beta)?|\/v\d+beta\/openai|^https:\/\/api\.deepinfra\.com\/v1\/openai)$/.test(base)
    ? base + operation
    : base + version + operation
