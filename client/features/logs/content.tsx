import { Box, Stack, Text } from '@chakra-ui/react'
import { Section } from '../../components/facts.tsx'
import { Markdown } from '../../components/markdown.tsx'
import { t } from '../../i18n/t.ts'
import type { LogDetails } from './details.ts'

type LoggedMessage = { role: string; content: string }

const titlesOf = (): Readonly<Record<string, string>> => ({
  system: t('系统提示'),
  user: t('用户'),
  assistant: t('模型'),
  model: t('模型'),
  tool: t('工具'),
})

/** What was said, where the operator has such content stored. */
export function StoredContent({ details }: { details: LogDetails }) {
  const { system_prompt: system = '', context = [], input_content: input, output_content: output = '' } = details
  if (input === undefined) return null
  const messages: LoggedMessage[] = [
    { role: 'system', content: system },
    ...context,
    typeof input === 'string' ? { role: 'user', content: input } : input,
    { role: 'assistant', content: output },
  ].filter(({ content }) => content !== '')
  if (messages.length === 0) return null
  const titles = titlesOf()
  return (
    <Section title={t('内容')}>
      <Stack gap="3">
        {messages.map((one, index) => (
          <Box key={index} layerStyle="frame" overflow="hidden">
            <Text textStyle="xs" color="fg.muted" px="3" py="1.5" borderBottomWidth="1px" bg="bg.subtle">
              {titles[one.role] ?? one.role}
            </Text>
            <Box px="3" py="2.5" maxH="96" overflowY="auto" tabIndex={0}>
              <Markdown source={one.content} />
            </Box>
          </Box>
        ))}
      </Stack>
    </Section>
  )
}
