import { expect, it } from 'vitest'
import { processorMs } from '#server/processor-time.ts'
import { previewOf } from './view-preview.ts'

it('is cut at 100 characters, of which the last three are the ellipsis', () => {
  expect(previewOf('字'.repeat(100), 'plain')).toBe('字'.repeat(100))
  const cut = previewOf('字'.repeat(101), 'plain')
  expect([...cut]).toHaveLength(100)
  expect(cut.endsWith('字...')).toBe(true)
  // A character of two code units is never cut in half.
  expect(previewOf('😀'.repeat(200), 'plain')).toBe(`${'😀'.repeat(97)}...`)
})

it('has the words of markdown and HTML without their marks', () => {
  expect(previewOf('# Title\n\n- **bold** and [a link](https://x.example)\n> `code`', 'markdown')).toBe(
    'Title bold and a link code',
  )
  expect(previewOf('Call `<host>/v1`:\n```\nhttps://<host>/v1 && <b>\n```\n<b>Done</b>', 'markdown')).toBe(
    'Call <host>/v1: https://<host>/v1 && <b> Done',
  )
  expect(previewOf('<h1>Hi</h1><p>a &lt;b&gt; &amp; c<script>alert(1)</script></p>', 'html')).toBe('Hi a <b> & c')
  expect(previewOf('<b>as it is</b>', 'plain')).toBe('<b>as it is</b>')
})

it('takes hostile texts without delay', () => {
  const start = processorMs()
  for (const text of ['<'.repeat(200_000), '['.repeat(200_000), '<script'.repeat(30_000), '**'.repeat(100_000)]) {
    previewOf(text, 'html')
    previewOf(text, 'markdown')
  }
  expect(processorMs() - start).toBeLessThan(1000)
})
