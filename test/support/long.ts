/** Long forms of tests run behind this: `npm run test:long`. */
export const long = process.env.TEST_LONG === '1'
