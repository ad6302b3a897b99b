/** What a token names that leaves the choice among root's list of groups to each call. */
export const autoGroup = 'auto'
