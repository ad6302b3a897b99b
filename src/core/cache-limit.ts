/**
 * What an `LRUCache` holds at most, in entries. Its own `max` sets the memory for all of them aside at once, tens of megabytes
 * in a process that knows three callers; a size of one each lets it grow as it is filled.
 */
export const entryLimit = (most: number): { maxSize: number; sizeCalculation: () => number } => ({
  maxSize: most,
  sizeCalculation: () => 1,
})
