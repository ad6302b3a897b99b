/** Long forms of tests run behind this: `npm run test:long`. */
export const long = process.env.TEST_LONG === '1'

/**
 * Whether the short form of a test tries a combination too, of which the long form tries all: those whose places in their lists add up to a
 * multiple of `every`. They lie on diagonals, so that the members of each list take turns, and every run tries the same.
 */
export const isTaken = (every: number, ...places: number[]): boolean =>
  long || places.reduce((sum, place) => sum + place, 0) % every === 0
