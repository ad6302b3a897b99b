import { Box } from '@chakra-ui/react'
import type { SystemStyleObject } from '@chakra-ui/react'
import { useDeferredValue, useEffect, useRef } from 'react'
import { t } from '../i18n/t.ts'
import { copyWithToast } from './copy.tsx'

const prose: SystemStyleObject = {
  textStyle: 'md',
  lineHeight: 'tall',
  overflowWrap: 'anywhere',
  // Of text beside elements there is none, unless nothing was rendered.
  '&:not(:has(> *))': { whiteSpace: 'pre-wrap' },
  '& > * + *, & li > * + *': { mt: '3' },
  '& h1, & h2, & h3, & h4': { fontWeight: 'semibold' },
  '& > * + h1, & > * + h2, & > * + h3': { mt: '5' },
  '& h1': { textStyle: 'xl' },
  '& h2': { textStyle: 'lg' },
  '& ul': { listStyleType: 'disc', ps: '5' },
  '& ol': { listStyleType: 'decimal', ps: '5' },
  '& li + li': { mt: '1' },
  '& a': { color: 'accent.fg', textDecoration: 'underline', textUnderlineOffset: '2px' },
  '& blockquote': { borderStartWidth: '3px', ps: '3', color: 'fg.muted' },
  '& :not(pre) > code': { bg: 'bg.muted', px: '1', py: '0.5', borderRadius: 'l1', fontSize: '0.9em' },
  '& pre': {
    position: 'relative',
    p: '3',
    pe: '16',
    bg: 'bg.subtle',
    borderWidth: '1px',
    borderRadius: 'l3',
    overflowX: 'auto',
    textStyle: 'xs',
  },
  '& pre > button': {
    position: 'absolute',
    top: '1.5',
    insetEnd: '1.5',
    px: '2',
    h: '6',
    borderRadius: 'l1',
    textStyle: 'xs',
    fontFamily: 'body',
    color: 'fg.muted',
    cursor: 'pointer',
    _hover: { bg: 'bg.emphasized', color: 'fg' },
  },
  '& table': { display: 'block', overflowX: 'auto', textStyle: 'sm' },
  '& th, & td': { borderWidth: '1px', px: '2', py: '1', textAlign: 'start' },
  '& hr': { borderTopWidth: '1px' },
  '& img': { maxW: 'full', borderRadius: 'l2' },
}

/** Each block of code gets a button that copies it. */
function addCopyButtons(content: DocumentFragment) {
  for (const block of content.querySelectorAll('pre')) {
    const code = block.textContent ?? ''
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = t('复制')
    button.addEventListener('click', () => void copyWithToast(code))
    block.append(button)
  }
}

/** Markdown that people or models wrote: cleaned, and without images from elsewhere. */
export function Markdown({ source }: { source: string }) {
  const box = useRef<HTMLDivElement>(null)
  // While an answer streams in, drawing may lag behind what has come.
  const shown = useDeferredValue(source)
  useEffect(() => {
    let current = true
    void import('../lib/markdown.ts').then(
      ({ renderMarkdown }) => {
        if (!current) return
        const content = renderMarkdown(shown)
        addCopyButtons(content)
        box.current?.replaceChildren(content)
      },
      () => {
        // Where its file does not come a reply that was paid for is read as it was written.
        if (current && box.current) box.current.textContent = shown
      },
    )
    return () => {
      current = false
    }
  }, [shown])
  return <Box ref={box} css={prose} />
}
