/** Colours of highlighted code on the background of the widget, at least 4.5:1 in both themes. A browser without `light-dark` shows plain code. */
export const HIGHLIGHT_STYLES = `
.hl-comment,.hl-quote{color:light-dark(#59636e,#9aa4b0);font-style:italic}
.hl-keyword,.hl-selector-tag,.hl-template-tag,.hl-doctag,.hl-type{color:light-dark(#b31d35,#ff8a80)}
.hl-string,.hl-regexp,.hl-char,.hl-link,.hl-code{color:light-dark(#0a3f7a,#a5d6ff)}
.hl-number,.hl-literal,.hl-symbol,.hl-bullet,.hl-attr,.hl-attribute,.hl-property,.hl-selector-attr,.hl-selector-id,.hl-selector-class,.hl-selector-pseudo{color:light-dark(#0550ae,#79c0ff)}
.hl-title,.hl-section,.hl-meta{color:light-dark(#6639ba,#d2a8ff)}
.hl-name,.hl-addition,.hl-tag{color:light-dark(#116329,#7ee787)}
.hl-built_in,.hl-variable,.hl-template-variable,.hl-params .hl-type{color:light-dark(#953800,#ffb066)}
.hl-deletion{color:light-dark(#a40e26,#ffa198)}
.hl-emphasis{font-style:italic}.hl-strong{font-weight:700}
`;
