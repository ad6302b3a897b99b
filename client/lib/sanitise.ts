import DOMPurify from 'dompurify'

const forbidden = ['style', 'form', 'input', 'button', 'textarea', 'select', 'iframe', 'object', 'embed']

const leavingItsPlace = [
  'position',
  'z-index',
  'inset',
  'top',
  'right',
  'bottom',
  'left',
  'transform',
  'translate',
  'scale',
]

/** Links open apart and tell the other site nothing; form controls that could imitate ours are dropped. */
DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A' && node.hasAttribute('href')) {
    node.setAttribute('target', '_blank')
    node.setAttribute('rel', 'noopener noreferrer')
  }
  // What leaves its place may lie over navigation and dialogs, and be taken for them.
  if (node instanceof HTMLElement) for (const property of leavingItsPlace) node.style.removeProperty(property)
})

export const sanitise = (html: string): string =>
  DOMPurify.sanitize(html, { FORBID_TAGS: forbidden, SANITIZE_NAMED_PROPS: true })
