import { asObject, refuse, type Json } from './prompt.ts'

/** @throws {Refusal} for the first name that the vendor does not know, at the place it stands. */
export function checkFields(given: Json, known: readonly string[], place = ''): void {
  const odd = Object.keys(given).find((name) => !known.includes(name))
  if (odd !== undefined) refuse(`Unrecognized field: ${place}${odd}`, `${place}${odd}`)
}

const camel = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The fields of a message of Google's under their one name. */
export const camelled = (given: unknown): Json =>
  Object.fromEntries(Object.entries(asObject(given)).map(([name, value]) => [camel(name), value]))
