import { SegmentGroup, Stack } from '@chakra-ui/react'
import { useState } from 'react'
import { CodeBlock } from '../../components/code-block.tsx'
import { t } from '../../i18n/t.ts'

const dialects = ['openai', 'anthropic', 'gemini'] as const
type Dialect = (typeof dialects)[number]

const names: Record<Dialect, string> = { openai: 'OpenAI', anthropic: 'Anthropic', gemini: 'Gemini' }

const messages = '"messages":[{"role":"user","content":"Hello"}]'

/** The same question in the words of each vendor's clients. */
const calls: Record<Dialect, (base: string, model: string) => string> = {
  openai: (base, model) => `curl ${base}/v1/chat/completions \\
  -H "Authorization: Bearer sk-…" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"${model}",${messages}}'`,
  anthropic: (base, model) => `curl ${base}/v1/messages \\
  -H "x-api-key: sk-…" \\
  -H "anthropic-version: 2023-06-01" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"${model}","max_tokens":1024,${messages}}'`,
  gemini: (base, model) => `curl ${base}/v1beta/models/${model}:generateContent \\
  -H "x-goog-api-key: sk-…" \\
  -H "Content-Type: application/json" \\
  -d '{"contents":[{"parts":[{"text":"Hello"}]}]}'`,
}

const isDialect = (value: string | null): value is Dialect => dialects.some((dialect) => dialect === value)

/** A call to copy, in three dialects: any of them reaches any model. */
export function HomeCall({ base, model }: { base: string; model: string }) {
  const [dialect, setDialect] = useState<Dialect>('openai')
  return (
    <Stack gap="3" minW="0">
      <SegmentGroup.Root
        size="sm"
        alignSelf="flex-start"
        aria-label={t('接口格式')}
        value={dialect}
        onValueChange={({ value }) => isDialect(value) && setDialect(value)}
      >
        <SegmentGroup.Indicator />
        <SegmentGroup.Items items={dialects.map((value) => ({ value, label: names[value] }))} />
      </SegmentGroup.Root>
      <CodeBlock title="Shell" code={calls[dialect](base, model)} />
    </Stack>
  )
}
