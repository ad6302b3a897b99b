import { refuse, type Json } from './prompt.ts'

/** @throws {Refusal} for the first name that the vendor does not know, at the place it stands. */
export function checkFields(given: Json, known: readonly string[], place = ''): void {
  const odd = Object.keys(given).find((name) => !known.includes(name))
  if (odd !== undefined) refuse(`Unrecognized field: ${place}${odd}`, `${place}${odd}`)
}
