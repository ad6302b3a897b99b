const stay = (event: Event): void => event.preventDefault()

/**
 * For what opens above a page: a drawer below it that closes would take it along, with what it shows or asks, itself or by the focus that
 * it gives back; and a page that arrives behind it takes the focus, though nobody has closed it.
 */
export const staysOpen = { onRequestDismiss: stay, onFocusOutside: stay }
