/** Time for a machine that others have busy: with these, what a product asks of its database is late and does not fail. */
export const patientWaits = { waitMs: 120_000, readMs: 120_000, callMs: 60_000 }
