import { Box, Button, Field, Stack, Text, Textarea } from '@chakra-ui/react'
import { CornerDownRight, Wrench } from 'lucide-react'
import { CodeBlock } from '../../components/code-block.tsx'
import { t } from '../../i18n/t.ts'
import { formatJson } from '../../lib/json.ts'
import { useDraft } from './drafts.ts'
import type { ToolCall, ToolResult } from './reply.ts'

/** What broke off in the middle is shown as it came. */
const shownArguments = (text: string): string => {
  try {
    return formatJson(text)
  } catch {
    return text
  }
}

/** The calls of a reply, as the model wrote them. */
export function ToolCalls({ calls }: { calls: readonly ToolCall[] }) {
  return (
    <Stack gap="2" data-calls="">
      {calls.map((call, index) => (
        <CodeBlock
          key={call.id || index}
          title={`${call.name}()`}
          code={shownArguments(call.arguments)}
          maxHeight="64"
          wrap
        />
      ))}
    </Stack>
  )
}

/** A result as it was typed. */
export function ToolResultView({ result }: { result: ToolResult }) {
  return (
    <Box ps="3" borderStartWidth="2px" data-result="">
      <Text textStyle="xs" color="fg.muted" display="inline-flex" alignItems="center" gap="1">
        <CornerDownRight size={12} aria-hidden />
        {t('{name} 的返回结果', { name: result.name })}
      </Text>
      <Text fontFamily="mono" textStyle="xs" whiteSpace="pre-wrap" overflowWrap="anywhere">
        {result.content}
      </Text>
    </Box>
  )
}

type ToolResultsProps = {
  conversation: string
  /** The reply that calls them. */
  reply: number
  calls: readonly ToolCall[]
  /** The model can be asked to go on. */
  isReady: boolean
  onSubmit: (results: readonly string[]) => void
}

/** What the called functions are to have returned, all of them at once: models wait for every result. */
export function ToolResults({ conversation, reply, calls, isReady, onSubmit }: ToolResultsProps) {
  const { draft, change } = useDraft(conversation)
  const results = draft.results[reply] ?? []
  const type = (index: number, text: string) =>
    change((before) => ({
      results: { ...before.results, [reply]: calls.map((_, at) => (at === index ? text : (results[at] ?? ''))) },
    }))
  return (
    <Stack
      as="form"
      gap="3"
      layerStyle="frame"
      p="4"
      onSubmit={(event) => {
        event.preventDefault()
        change((before) => ({ results: { ...before.results, [reply]: undefined } }))
        onSubmit(calls.map((_, index) => results[index] ?? ''))
      }}
    >
      {calls.map((call, index) => (
        <Field.Root key={call.id || index}>
          <Field.Label>{t('{name} 的返回结果', { name: call.name })}</Field.Label>
          <Textarea
            fontFamily="mono"
            textStyle="xs"
            rows={2}
            autoresize
            maxH="64"
            placeholder='{"temperature": 21}'
            value={results[index] ?? ''}
            onChange={(event) => type(index, event.target.value)}
          />
        </Field.Root>
      ))}
      <Button type="submit" variant="solid" alignSelf="flex-start" disabled={!isReady}>
        <Wrench aria-hidden />
        {t('返回结果并继续')}
      </Button>
    </Stack>
  )
}
