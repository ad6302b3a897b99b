import DOMPurify from 'dompurify'

const forbidden = ['style', 'form', 'input', 'button', 'textarea', 'select', 'iframe', 'object', 'embed']

/** Links open apart and tell the other site nothing; form controls that could imitate ours are dropped. */
DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A' && node.hasAttribute('href')) {
    node.setAttribute('target', '_blank')
    node.setAttribute('rel', 'noopener noreferrer')
  }
})

export const sanitise = (html: string): string => DOMPurify.sanitize(html, { FORBID_TAGS: forbidden })
