/** Time, ids and randomness, passed in so that pure code stays pure and tests decide them. */
export type Ambient = {
  now: () => Date
  /** A fresh URL-safe id of the given length in characters from `[0-9A-Za-z]`, from a cryptographic source. */
  newId: (length: number) => string
  /** Uniform in [0, 1). Never for secrets. */
  random: () => number
}
