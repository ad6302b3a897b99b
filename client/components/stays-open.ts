/** For what opens above a page: a drawer below it that closes would take it along, with what it shows or asks. */
export const staysOpen = { onRequestDismiss: (event: Event): void => event.preventDefault() }
