const busy =
  'input, textarea, select, [contenteditable=true], [role=menu], [role=dialog], [role=alertdialog], [role=listbox]'

/** Whether keys belong to what has the focus: a field, a menu, a dialog. */
export const isTyping = (target: EventTarget | null): boolean => {
  if (!(target instanceof Element)) return false
  if (target.matches('input[type=checkbox]')) return false
  return target.closest(busy) !== null
}

const apple = /Mac|iPhone|iPad/.test(typeof navigator === 'undefined' ? '' : navigator.userAgent)

/** Whether a key belongs to a word that is still being chosen, as in Chinese: Safari ends the choice before it reports the key that did. */
export const isComposing = ({ nativeEvent }: { nativeEvent: KeyboardEvent }): boolean =>
  nativeEvent.isComposing || nativeEvent.keyCode === 229

/** How the reader's keyboard names the command key. */
export const commandKey = apple ? '⌘' : 'Ctrl'
