/** Pairs of a name and what it reads as. */
function table(pairs: string): ReadonlyMap<string, string> {
  const words = pairs.trim().split(/\s+/);
  return new Map(words.flatMap((word, index) => (index % 2 === 0 ? [[word, words[index + 1] ?? '']] : [])));
}

/** Letters and signs that stand close to what is beside them. */
export const SYMBOLS = table(`
alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ mu μ nu ν xi ξ omicron ο
pi π varpi ϖ rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ phi φ varphi φ chi χ psi ψ omega ω
Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω
infty ∞ partial ∂ nabla ∇ hbar ℏ ell ℓ Re ℜ Im ℑ aleph ℵ emptyset ∅ varnothing ∅ forall ∀ exists ∃ nexists ∄ neg ¬ lnot ¬
sum ∑ prod ∏ coprod ∐ int ∫ iint ∬ iiint ∭ oint ∮ bigcup ⋃ bigcap ⋂ bigoplus ⨁ bigotimes ⨂
ldots … dots … cdots ⋯ vdots ⋮ ddots ⋱ prime ′ degree ° circ ∘ angle ∠ triangle △ square □ star ⋆ ast ∗ bullet • dagger † checkmark ✓
langle ⟨ rangle ⟩ lceil ⌈ rceil ⌉ lfloor ⌊ rfloor ⌋ lvert | rvert | vert | lVert ‖ rVert ‖ Vert ‖ mid | backslash \\
lbrace { rbrace } lbrack [ rbrack ] top ⊤ bot ⊥ pounds £ S § P ¶ copyright © AA Å aa å ae æ oe œ o ø
`);

/** Signs between two terms, which read better with spaces around them. */
export const OPERATORS = table(`
times × div ÷ pm ± mp ∓ cdot · oplus ⊕ otimes ⊗ odot ⊙ cup ∪ cap ∩ setminus ∖ wedge ∧ land ∧ vee ∨ lor ∨
le ≤ leq ≤ leqslant ≤ ge ≥ geq ≥ geqslant ≥ ne ≠ neq ≠ ll ≪ gg ≫ lt < gt > approx ≈ sim ∼ simeq ≃ cong ≅ equiv ≡ propto ∝ doteq ≐
in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ perp ⊥ parallel ∥ models ⊨ vdash ⊢ colon :
to → rightarrow → leftarrow ← gets ← leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ implies ⟹ impliedby ⟸ iff ⟺ mapsto ↦
longrightarrow ⟶ longleftarrow ⟵ uparrow ↑ downarrow ↓ rightleftharpoons ⇌ hookrightarrow ↪ therefore ∴ because ∵
`);

/** Marks over or under a letter. */
export const ACCENTS = table(`
hat \u0302 widehat \u0302 bar \u0304 overline \u0305 vec \u20d7 dot \u0307 ddot \u0308 tilde \u0303 widetilde \u0303 check \u030c breve \u0306
acute \u0301 grave \u0300 underline \u0332
`);

/** Letters of the sets of numbers. */
export const DOUBLE = table('A 𝔸 B 𝔹 C ℂ D 𝔻 E 𝔼 F 𝔽 H ℍ K 𝕂 N ℕ P ℙ Q ℚ R ℝ S 𝕊 T 𝕋 Z ℤ 1 𝟙');

export const SUPERSCRIPTS = table(`
0 ⁰ 1 ¹ 2 ² 3 ³ 4 ⁴ 5 ⁵ 6 ⁶ 7 ⁷ 8 ⁸ 9 ⁹ + ⁺ − ⁻ - ⁻ = ⁼ ( ⁽ ) ⁾ a ᵃ b ᵇ c ᶜ d ᵈ e ᵉ f ᶠ g ᵍ h ʰ i ⁱ j ʲ k ᵏ l ˡ m ᵐ n ⁿ o ᵒ p ᵖ
r ʳ s ˢ t ᵗ u ᵘ v ᵛ w ʷ x ˣ y ʸ z ᶻ A ᴬ B ᴮ D ᴰ E ᴱ G ᴳ H ᴴ I ᴵ J ᴶ K ᴷ L ᴸ M ᴹ N ᴺ O ᴼ P ᴾ R ᴿ T ᵀ U ᵁ V ⱽ W ᵂ
β ᵝ γ ᵞ δ ᵟ θ ᶿ φ ᵠ χ ᵡ ′ ′ ∘ ° ° ° ∗ *
`);

export const SUBSCRIPTS = table(`
0 ₀ 1 ₁ 2 ₂ 3 ₃ 4 ₄ 5 ₅ 6 ₆ 7 ₇ 8 ₈ 9 ₉ + ₊ − ₋ - ₋ = ₌ ( ₍ ) ₎ a ₐ e ₑ h ₕ i ᵢ j ⱼ k ₖ l ₗ m ₘ n ₙ o ₒ p ₚ r ᵣ s ₛ t ₜ u ᵤ v ᵥ x ₓ
β ᵦ γ ᵧ ρ ᵨ φ ᵩ χ ᵪ
`);
