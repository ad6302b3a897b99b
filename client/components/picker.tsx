import { Combobox, HStack, Portal, Tag, Wrap, createListCollection } from '@chakra-ui/react'
import type { Ref } from 'react'
import { useMemo, useState } from 'react'
import { t } from '../i18n/t.ts'

export type Choice = { value: string; label: string; /** A second, fainter text. */ note?: string; disabled?: boolean }

type CommonProps = {
  choices: readonly Choice[]
  /** Names the field where no label is tied to it. */
  label?: string
  placeholder?: string
  disabled?: boolean
  invalid?: boolean
  onBlur?: () => void
  /** For its form, which gives the focus to what is faulty. */
  inputRef?: Ref<HTMLInputElement>
  /** What is typed may be taken even if it is not among the choices. */
  allowNew?: boolean
}

export type PickerProps = CommonProps & { value: string; onChange: (value: string) => void; clearable?: boolean }
export type MultiPickerProps = CommonProps & { value: readonly string[]; onChange: (value: string[]) => void }

/** More would be slow to draw and slower to read; typing narrows them. */
const mostShown = 200

/** A dialog hides from readers of the screen what stood outside of it when it opened: a list that comes later stays known to them. */
const mountedWhenOpen = { lazyMount: true, unmountOnExit: true }

function matching(choices: readonly Choice[], typed: string): Choice[] {
  const words = typed.trim().toLowerCase()
  if (!words) return choices.slice(0, mostShown)
  const hits = choices.filter((choice) =>
    `${choice.label} ${choice.value} ${choice.note ?? ''}`.toLowerCase().includes(words),
  )
  return hits.slice(0, mostShown)
}

/** The choices that match, and what was typed as one more where that is allowed. */
function useChoices(choices: readonly Choice[], typed: string, mayAdd: boolean) {
  return useMemo(() => {
    const shown = matching(choices, typed)
    const fresh = typed.trim()
    const isNew = mayAdd && fresh !== '' && !choices.some((choice) => choice.value === fresh)
    const items = isNew ? [...shown, { value: fresh, label: t('添加“{name}”', { name: fresh }) }] : shown
    return createListCollection({ items, itemToString: (item) => item.label, itemToValue: (item) => item.value })
  }, [choices, typed, mayAdd])
}

/**
 * What was typed and not confirmed when the field is left: taken where it is the name of a choice, or nothing else is like it. Else
 * it may have been meant to find one of those.
 */
function leftIn(
  collection: { items: readonly Choice[] },
  typed: string,
  choices: readonly Choice[],
): string | undefined {
  const fresh = typed.trim()
  const isOnly = collection.items.length === 1 && collection.items[0]?.value === fresh
  return fresh !== '' && (isOnly || choices.some(({ value }) => value === fresh)) ? fresh : undefined
}

function List({ items, empty = t('没有匹配项') }: { items: readonly Choice[]; empty?: string }) {
  return (
    <Portal>
      <Combobox.Positioner>
        <Combobox.Content textStyle="sm" p="1" maxH="72">
          <Combobox.Empty color="fg.muted">{empty}</Combobox.Empty>
          {items.map((item) => (
            <Combobox.Item key={item.value} item={item}>
              <HStack minW="0" gap="2" flex="1">
                <Combobox.ItemText truncate>{item.label}</Combobox.ItemText>
                {item.note && (
                  <Tag.Root size="sm" variant="subtle" flexShrink="0">
                    <Tag.Label>{item.note}</Tag.Label>
                  </Tag.Root>
                )}
              </HStack>
              <Combobox.ItemIndicator />
            </Combobox.Item>
          ))}
        </Combobox.Content>
      </Combobox.Positioner>
    </Portal>
  )
}

/** One of many, found by typing. */
export function Picker(props: PickerProps) {
  const {
    choices,
    value,
    onChange,
    label,
    placeholder,
    disabled,
    invalid,
    onBlur,
    inputRef,
    allowNew = false,
    clearable = false,
  } = props
  const [typed, setTyped] = useState<string>()
  const known = useMemo(
    () =>
      value && !choices.some((choice) => choice.value === value) ? [...choices, { value, label: value }] : choices,
    [choices, value],
  )
  const collection = useChoices(known, typed ?? '', allowNew)
  const shown = known.find((choice) => choice.value === value)?.label ?? value
  return (
    <Combobox.Root
      collection={collection}
      value={value ? [value] : []}
      inputValue={typed ?? shown}
      disabled={disabled}
      invalid={invalid}
      openOnClick
      {...mountedWhenOpen}
      selectionBehavior="preserve"
      inputBehavior="autohighlight"
      positioning={{ sameWidth: true }}
      onInputValueChange={({ inputValue, reason }) => {
        if (reason !== 'input-change') return setTyped(undefined)
        // A click puts the caret behind the choice that stands there: what is typed looks for another one, not for both together.
        const isAppended = typed === undefined && !allowNew && inputValue.startsWith(shown)
        setTyped(isAppended ? inputValue.slice(shown.length) : inputValue)
      }}
      onOpenChange={({ open, reason }) => {
        if (open) return
        const left = allowNew && reason === 'interact-outside' ? leftIn(collection, typed ?? '', known) : undefined
        if (left !== undefined) onChange(left)
        setTyped(undefined)
      }}
      onValueChange={({ value: [chosen] }) => onChange(chosen ?? '')}
    >
      <Combobox.Control>
        <Combobox.Input
          ref={inputRef}
          aria-label={label}
          placeholder={placeholder}
          onBlur={onBlur}
          onFocus={(event) => event.target.select()}
        />
        <Combobox.IndicatorGroup>
          {clearable && value && <Combobox.ClearTrigger aria-label={t('清除')} />}
          <Combobox.Trigger aria-label={t('打开选项')} />
        </Combobox.IndicatorGroup>
      </Combobox.Control>
      <List items={collection.items} />
    </Combobox.Root>
  )
}

/** Several of many, found by typing; each chosen one can be taken out again. */
export function MultiPicker(props: MultiPickerProps) {
  const { choices, value, onChange, label, placeholder, disabled, invalid, onBlur, inputRef, allowNew = false } = props
  const [typed, setTyped] = useState('')
  // What stands there already would be taken out by adding it again.
  const isThere = value.includes(typed.trim())
  const collection = useChoices(choices, typed, allowNew && !isThere)
  const labelOf = (chosen: string) => choices.find((choice) => choice.value === chosen)?.label ?? chosen
  const drop = (chosen: string) => onChange(value.filter((other) => other !== chosen))
  return (
    <Combobox.Root
      multiple
      collection={collection}
      value={[...value]}
      inputValue={typed}
      disabled={disabled}
      invalid={invalid}
      openOnClick
      {...mountedWhenOpen}
      closeOnSelect={false}
      selectionBehavior="clear"
      inputBehavior="autohighlight"
      positioning={{ sameWidth: true }}
      onInputValueChange={({ inputValue, reason }) => {
        const left = allowNew && reason === 'interact-outside' ? leftIn(collection, typed, choices) : undefined
        if (left !== undefined && !isThere) onChange([...value, left])
        setTyped(inputValue)
      }}
      onValueChange={(details) => {
        // What the search hides stays chosen.
        const hidden = value.filter((chosen) => collection.find(chosen) === null)
        onChange([...hidden.filter((chosen) => !details.value.includes(chosen)), ...details.value])
        setTyped('')
      }}
    >
      {value.length > 0 && (
        <Wrap gap="1">
          {value.map((chosen) => (
            <Tag.Root key={chosen} size="md" colorPalette="neutral" maxW="full">
              <Tag.Label>{labelOf(chosen)}</Tag.Label>
              <Tag.EndElement>
                <Tag.CloseTrigger
                  disabled={disabled}
                  aria-label={t('移除 {name}', { name: labelOf(chosen) })}
                  onClick={() => drop(chosen)}
                />
              </Tag.EndElement>
            </Tag.Root>
          ))}
        </Wrap>
      )}
      <Combobox.Control>
        <Combobox.Input
          ref={inputRef}
          aria-label={label}
          placeholder={placeholder ?? t('输入以搜索')}
          onBlur={onBlur}
          onKeyDown={(event) => {
            const last = value.at(-1)
            if (event.key === 'Backspace' && typed === '' && last !== undefined) drop(last)
          }}
        />
        <Combobox.IndicatorGroup>
          <Combobox.Trigger aria-label={t('打开选项')} />
        </Combobox.IndicatorGroup>
      </Combobox.Control>
      <List items={collection.items} {...(isThere && { empty: t('“{name}” 已在其中', { name: typed.trim() }) })} />
    </Combobox.Root>
  )
}
