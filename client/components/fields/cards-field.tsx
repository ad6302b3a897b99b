import { RadioCard, SimpleGrid, Stack } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import type { FieldProps } from './field-frame.tsx'
import { FieldFrame, useField, valueOf } from './field-frame.tsx'

type CardChoice = { value: string; label: string; description?: ReactNode }
type CardsFieldProps = FieldProps & { choices: readonly CardChoice[]; columns?: number }

/** One of a few that each need a sentence. */
export function CardsField({ name, choices, columns = 1, ...frame }: CardsFieldProps) {
  const { field, state } = useField(name)
  return (
    <FieldFrame {...frame} state={state}>
      <RadioCard.Root
        size="sm"
        w="full"
        name={name}
        aria-label={frame.label}
        value={valueOf(field.value)}
        onValueChange={({ value }) => field.onChange(value)}
      >
        <SimpleGrid columns={{ base: 1, sm: columns }} gap="2">
          {choices.map((choice, index) => (
            <RadioCard.Item key={choice.value} value={choice.value}>
              <RadioCard.ItemHiddenInput ref={index === 0 ? field.ref : undefined} onBlur={field.onBlur} />
              <RadioCard.ItemControl>
                <Stack gap="0.5" flex="1">
                  <RadioCard.ItemText>{choice.label}</RadioCard.ItemText>
                  {choice.description && (
                    <RadioCard.ItemDescription textStyle="xs">{choice.description}</RadioCard.ItemDescription>
                  )}
                </Stack>
                <RadioCard.ItemIndicator />
              </RadioCard.ItemControl>
            </RadioCard.Item>
          ))}
        </SimpleGrid>
      </RadioCard.Root>
    </FieldFrame>
  )
}
