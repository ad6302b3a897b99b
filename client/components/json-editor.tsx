import { Box, Button, Flex, Text, Textarea } from '@chakra-ui/react'
import { Braces } from 'lucide-react'
import type { Ref } from 'react'
import { useId } from 'react'
import { t } from '../i18n/t.ts'
import { formatJson, jsonProblem } from '../lib/json.ts'

export type JsonEditorProps = {
  value: string
  onChange: (value: string) => void
  onBlur?: () => void
  inputRef?: Ref<HTMLTextAreaElement>
  /** Names the field where no label is tied to it. */
  label?: string
  rows?: number
  placeholder?: string
  disabled?: boolean
  /** An empty text is fine. */
  optional?: boolean
  /** It may be JSON, but not what is asked for, which is reported elsewhere. */
  invalid?: boolean
}

/** JSON as text, with what is wrong with it and a button that sets it out. */
export function JsonEditor(props: JsonEditorProps) {
  const { value, onChange, onBlur, inputRef, label, rows = 8, placeholder } = props
  const { disabled = false, optional = false, invalid } = props
  const problem = jsonProblem(value, optional)
  const id = useId()
  return (
    <Box w="full">
      <Textarea
        ref={inputRef}
        aria-label={label}
        {...(problem && { 'aria-describedby': id })}
        value={value}
        rows={rows}
        disabled={disabled}
        placeholder={placeholder}
        spellCheck={false}
        autoCapitalize="off"
        fontFamily="mono"
        textStyle="xs"
        resize="vertical"
        onChange={(event) => onChange(event.target.value)}
        onBlur={onBlur}
      />
      <Flex justify="space-between" align="center" gap="3" mt="1" minH="7">
        <Text id={id} textStyle="xs" color={problem ? 'fg.error' : 'fg.muted'} aria-live="polite">
          {problem
            ? problem.line === undefined
              ? t('不是合法的 JSON 字符串')
              : t('第 {line} 行不是合法的 JSON', { line: problem.line })
            : value.trim() !== '' && !invalid && t('JSON 格式正确')}
        </Text>
        <Button
          size="xs"
          variant="ghost"
          disabled={disabled || problem !== undefined || value.trim() === ''}
          onClick={() => onChange(formatJson(value))}
        >
          <Braces aria-hidden />
          {t('格式化')}
        </Button>
      </Flex>
    </Box>
  )
}
