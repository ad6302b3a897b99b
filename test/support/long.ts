/** Long forms of tests run behind this: `npm run test:long`. The second name is the one of the faults alone. */
export const long = process.env.TEST_LONG === '1' || process.env.FAULTS_LONG === '1'
