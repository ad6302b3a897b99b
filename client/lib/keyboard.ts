const busy =
  'input, textarea, select, [contenteditable=true], [role=menu], [role=dialog], [role=alertdialog], [role=listbox]'

/** Whether keys belong to what has the focus: a field, a menu, a dialog. */
export const isTyping = (target: EventTarget | null): boolean => {
  if (!(target instanceof Element)) return false
  if (target.matches('input[type=checkbox]')) return false
  return target.closest(busy) !== null
}

const apple = /Mac|iPhone|iPad/.test(typeof navigator === 'undefined' ? '' : navigator.userAgent)

/** How the reader's keyboard names the command key. */
export const commandKey = apple ? '⌘' : 'Ctrl'
