import type { Installation, Target } from '../installation.ts'
import type { Options } from '../options.ts'

/** What every part is given: the two processes it compares, one worker each. */
export type Bench = {
  installation: Installation
  options: Options
  gateway: Target & { name: 'gateway' }
  passThrough: Target & { name: 'pass-through' }
}
