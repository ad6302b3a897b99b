/** Whether an input, as it was sent, has one of these fields with something in it. */
export const names = (input: unknown, fields: readonly string[]): boolean =>
  typeof input === 'object' &&
  input !== null &&
  Object.entries(input).some(([name, value]) => fields.includes(name) && value !== undefined && value !== '')
