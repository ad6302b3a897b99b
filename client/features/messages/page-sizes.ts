/** People to choose from when a message is written. */
export const recipientsPerPage = 20

/** People who have a message, beside it. */
export const readersPerPage = 10
