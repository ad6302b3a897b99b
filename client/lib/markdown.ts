import DOMPurify from 'dompurify'
import { Marked } from 'marked'
import { t } from '../i18n/t.ts'

const marked = new Marked({ gfm: true, breaks: true })

const purifier = DOMPurify()

/** What Markdown can say, and nothing that fetches, frames, styles or imitates our controls. */
const allowed = {
  ALLOWED_TAGS: (
    'h1 h2 h3 h4 h5 h6 p br hr ul ol li blockquote pre code em strong del sup sub kbd a img ' +
    'table thead tbody tr th td span div details summary'
  ).split(' '),
  ALLOWED_ATTR: ['href', 'title', 'alt', 'src', 'start', 'align', 'data-address'],
  ALLOW_DATA_ATTR: false,
}

const isInline = (address: string): boolean => /^data:image\/(png|jpe?g|gif|webp);/.test(address)

// Here, in the purifier's own inert document, nothing has been fetched yet.
purifier.addHook('afterSanitizeAttributes', (node) => {
  const address = node.getAttribute('src')
  if (node.tagName !== 'IMG' || address === null || isInline(address)) return
  node.removeAttribute('src')
  node.setAttribute('data-address', address)
})

const toLink = (image: Element) => {
  const link = document.createElement('a')
  link.href = image.getAttribute('data-address') ?? ''
  link.textContent = `🖼 ${image.getAttribute('alt') || t('图片')}`
  image.replaceWith(link)
}

/**
 * Markdown as nodes that cannot run anything and fetch nothing: an image from elsewhere would tell its server who
 * reads, so it becomes a link that the reader may follow.
 */
export function renderMarkdown(source: string): DocumentFragment {
  const html = marked.parse(source, { async: false })
  const content = purifier.sanitize(html, { ...allowed, RETURN_DOM_FRAGMENT: true })
  content.querySelectorAll('img[data-address]').forEach(toLink)
  for (const link of content.querySelectorAll('a[href]')) {
    link.setAttribute('target', '_blank')
    link.setAttribute('rel', 'noopener noreferrer')
  }
  return content
}
