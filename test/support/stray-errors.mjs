import { appendFileSync } from 'node:fs'
import { OutgoingMessage, ServerResponse } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// Loaded before a product (node --import): a request may ask for a flaw in what answers it, or for flaws that go on in the
// background, as a mistake in the product would have them.
const flaw = () => new Error('broken on purpose')
let thrown = false

ServerResponse.prototype.setHeader = function (name, value) {
  const wanted = this.req?.headers['x-flaw']
  if (wanted === 'stray' && !thrown) {
    thrown = true
    setInterval(() => void Promise.reject(flaw()), 70)
    setInterval(
      () =>
        setTimeout(() => {
          throw flaw()
        }, 1),
      110,
    )
  }
  if (wanted === name) {
    this.req.headers['x-flaw'] = ''
    throw flaw()
  }
  return OutgoingMessage.prototype.setHeader.call(this, name, value)
}

// On this signal a process collects its garbage and writes down what is left in use, and what the system has given it.
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')
process.on('SIGURG', () => {
  collect()
  const { heapUsed, external, rss } = process.memoryUsage()
  appendFileSync(
    `${process.env.MEMORY_FOLDER}/${process.pid}`,
    `${JSON.stringify({ used: heapUsed + external, rss })}\n`,
  )
})
