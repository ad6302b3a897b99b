/** How ids of interactions begin, so that none is taken for the id of another kind of stored answer. */
export const interactionPrefix = 'interaction_'

export const isInteractionId = (id: string): boolean => id.startsWith(interactionPrefix)
