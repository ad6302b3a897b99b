import { Input, Stack, Text } from '@chakra-ui/react'
import { useState } from 'react'
import { t } from '../../i18n/t.ts'
import { Check } from '../check.tsx'
import { Option } from '../option-label.tsx'
import type { Facet } from './types.ts'

type SuggestFacetProps = {
  facet: Extract<Facet, { kind: 'suggest' }>
  chosen: readonly string[]
  /** Then it may be typed into at once. */
  isAlone: boolean
  onChange: (chosen: readonly string[]) => void
}

/** Values by name: what is chosen, then what fits the text; Enter takes the text as it is. */
export function SuggestFacet({ facet, chosen, isAlone, onChange }: SuggestFacetProps) {
  const [typed, setTyped] = useState('')
  const [hasFound, setHasFound] = useState(false)
  const suggestions = facet.useSuggestions(typed.trim())
  const others = (suggestions ?? []).filter(({ value }) => !chosen.includes(value))
  const toggle = (value: string, on: boolean) => {
    onChange(on ? [...chosen, value] : chosen.filter((one) => one !== value))
    if (on) setHasFound(true)
  }
  const take = () => {
    const value = typed.trim()
    if (value !== '' && !chosen.includes(value)) onChange([...chosen, value])
    setTyped('')
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        take()
      }}
    >
      <Stack
        gap="1"
        // Beside others it is applied when it is left, as they are; what has found a value was not meant as one itself.
        onBlur={({ currentTarget, relatedTarget }) => {
          if (!isAlone && !hasFound && !currentTarget.contains(relatedTarget)) take()
        }}
      >
        <Input
          autoFocus={isAlone}
          value={typed}
          aria-label={facet.label}
          placeholder={facet.placeholder}
          onChange={(event) => {
            setTyped(event.target.value)
            setHasFound(false)
          }}
        />
        {/* A press on a value would leave the field first, and apply what looks for it. */}
        <Stack
          gap="0"
          maxH="64"
          overflowY="auto"
          role="group"
          aria-label={facet.label}
          onMouseDown={(event) => event.preventDefault()}
        >
          {chosen.map((value) => (
            <Option key={value}>
              <Check checked onChange={() => toggle(value, false)} />
              <Text as="span" truncate>
                {value}
              </Text>
            </Option>
          ))}
          {others.map(({ value, label, note }) => (
            <Option key={value}>
              <Check checked={false} onChange={() => toggle(value, true)} />
              <Text as="span" truncate flex="1">
                {label}
              </Text>
              {note && (
                <Text as="span" color="fg.subtle" textStyle="xs">
                  {note}
                </Text>
              )}
            </Option>
          ))}
          {suggestions !== undefined && others.length === 0 && typed !== '' && (
            <Text px="2" py="1.5" color="fg.muted" textStyle="sm">
              {t('没有匹配项')}
            </Text>
          )}
        </Stack>
      </Stack>
    </form>
  )
}
